-- Gives back a place among the holders of a lock, to those in front of the queue.
-- KEYS  as in acquire.lua
-- ARGV  1 request id
-- Returns 1: given back; 0: not ours; 2: given back if it was ours, but so many who waited are gone
-- that finding the next takes another try. The first write is HDEL: it passes when memory is short,
-- and what follows a write passes too.
local call = redis.call
local entry = call('HGET', KEYS[1], ARGV[1])
local waiting = call('EXISTS', KEYS[2]) == 1
if not entry and not waiting then return 0 end
local restores = false
--@include give_back
return entry and 1 or 0
