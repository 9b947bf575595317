-- Asks for a lock that is one text at each of its keys: all or none.
-- KEYS  the resources
-- ARGV  1 the value to write: drawn, so whoever has it is this request
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              somebody else has one of them for another n ms
--   nil                  the same, and it never ends by itself
--   {"late", server time}
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
--@include prolong_each
local is_taken, remaining, missing = false, 0, {}
for i = 1, #KEYS do
  local held = call('GET', KEYS[i])
  if not held then
    missing[#missing + 1] = KEYS[i]
  elseif held ~= ARGV[1] then
    local left = call('PTTL', KEYS[i])
    if left < 0 then return false end
    is_taken = true
    remaining = math.max(remaining, left)
  end
end
if is_taken then return -remaining end
for i = 1, #missing do call('SET', missing[i], ARGV[1], 'PX', ARGV[2]) end
if #missing == #KEYS then return {ok = 'OK'} end
return {'mine', 0, prolong(KEYS, ARGV[2])}
