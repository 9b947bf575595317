-- Asks for a lock that is one text at most of its keys.
-- KEYS  its keys, an odd number; the majority of them is the lock
-- ARGV  1 the value to write: drawn, so whoever has it is this request
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              others have the majority for another n ms
--   nil                  the same, and it never ends by itself
--   {"late", server time}
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
local majority = (#KEYS + 1) / 2
local ours, missing, ends = {}, {}, {}
for i = 1, #KEYS do
  local held = call('GET', KEYS[i])
  if not held then
    missing[#missing + 1] = KEYS[i]
  elseif held == ARGV[1] then
    ours[#ours + 1] = KEYS[i]
  else
    local left = call('PTTL', KEYS[i])
    ends[#ends + 1] = left < 0 and math.huge or left
  end
end
if #ends >= majority then
  -- Who does not have all of them is about to take or to give back the lock.
  if #ends < #KEYS then return -20 end
  table.sort(ends)
  local left = ends[#ends - majority + 1]
  if left == math.huge then return false end
  return -left
end
--@include prolong_each
prolong(ours, ARGV[2])
for i = 1, #missing do call('SET', missing[i], ARGV[1], 'PX', ARGV[2]) end
if #ours < majority then return {ok = 'OK'} end
return {'mine', 0, ARGV[2] + 0}
