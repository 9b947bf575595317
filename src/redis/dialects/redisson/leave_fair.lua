-- Gives back a lock that is written as Redisson's RFairLock, or the place in its queue.
-- KEYS  1 the lock
--       2 the queue
--       3 the times of those in it
-- ARGV  1 our owner
--       2 the channel of the lock: that of who waits is this, a colon and his name
--       3 by how much those behind us come sooner now, in ms
--       4 SPUBLISH or nothing, see say
-- Returns 1: given back; 0: neither was ours.
-- When it is free then, whoever is first now is told. Redisson does not tell him when it is a place
-- that is given back: the one before him may have been told already, and leaves.
local call = redis.call
--@include server_ms
--@include first_in_line
--@include say

local place = call('LPOS', KEYS[2], ARGV[1])
if place then
  local behind = call('LRANGE', KEYS[2], place + 1, -1)
  -- Passes when memory is short, and what follows a write passes too.
  call('LREM', KEYS[2], 1, ARGV[1])
  call('ZREM', KEYS[3], ARGV[1])
  for _, other in ipairs(behind) do call('ZINCRBY', KEYS[3], -ARGV[3], other) end
end
if call('HDEL', KEYS[1], ARGV[1]) == 0 and not place then return 0 end
local first = first_in_line(KEYS[2], KEYS[3], server_ms())
if first and call('EXISTS', KEYS[1]) == 0 then
  say(ARGV[2] .. ':' .. first, '0')
end
return 1
