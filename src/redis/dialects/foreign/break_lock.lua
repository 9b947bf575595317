-- Takes a lock of another library away from the one who has it. For operators.
-- KEYS  1 the lock: a text, or a hash or a sorted set with a field for each who has it
--       more, of a lock of several keys; those with the same text go as well
--       of LPUSH the last is the list that its waiters listen to
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       2 who has it: the text, or the field
--       3 the channel
--       4 the message
--       5 how its library tells those who wait: PUBLISH, SPUBLISH or LPUSH; empty: it does not
-- Returns
--   {"broken"}
--   {"free"}         nobody has it
--   {"changed"}      another has it now; untouched
--   {"late", now}    not-after has passed, or is 2^53; untouched
local call = redis.call
--@include server_time
local not_after = ARGV[1] + 0
--@include only_in_time
--@include say

local function is_held_at(key)
  local kind = call('TYPE', key).ok
  if kind == 'hash' then return call('HEXISTS', key, ARGV[2]) == 1 end
  if kind == 'zset' then return call('ZSCORE', key, ARGV[2]) ~= false end
  return kind == 'string' and call('GET', key) == ARGV[2]
end

if call('EXISTS', KEYS[1]) == 0 then return {'free'} end
if not is_held_at(KEYS[1]) then return {'changed'} end
for i = 1, #KEYS do
  if is_held_at(KEYS[i]) then call('DEL', KEYS[i]) end
end
if ARGV[5] == 'LPUSH' then
  local list = KEYS[#KEYS]
  call('DEL', list)
  call('LPUSH', list, ARGV[4])
  call('PEXPIRE', list, 1000)
elseif ARGV[5] ~= '' then
  say(ARGV[3], ARGV[4])
end
return {'broken'}
