-- Gives back a read lock that is written as Redisson's; the last reader tells those who wait.
-- KEYS  1 the lock
-- ARGV  1 our owner
--       2 the channel on which it is made known: no key, so it needs no right to one
--       3 SPUBLISH or nothing, see say
-- Returns 1: given back; 0: not ours.
-- A reader who died stays in the hash, but has no lease any more: the lock lives on for the longest
-- lease of those who have one, and without any it is free. Of his first hold and the last thousand,
-- that is: a number that no lock has must not keep the server busy.
local call = redis.call
--@include timeout_of
--@include say

if call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
call('DEL', timeout_of(KEYS[1], ARGV[1], 1))
local longest = 0
local function look(reader, hold)
  longest = math.max(longest, call('PTTL', timeout_of(KEYS[1], reader, hold)))
end
local left = call('HGETALL', KEYS[1])
for i = 1, #left, 2 do
  local holds = tonumber(left[i + 1])
  if holds then
    look(left[i], 1)
    for before = 0, math.min(holds, 1001) - 2 do look(left[i], holds - before) end
  end
end
if longest > 0 then
  call('PEXPIRE', KEYS[1], longest)
else
  call('DEL', KEYS[1])
  say(ARGV[2], '0')
end
return 1
