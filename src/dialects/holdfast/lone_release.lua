-- Gives a lock back by its own key alone, while its hash slot is being moved and its keys are at
-- two nodes of a cluster. Who waits is not told: he asks by himself, as when a lease ends.
-- KEYS  1 the lock's value
-- ARGV  1 the value that it has if it is still ours
-- Returns 1: given back; 0: not ours.
local call = redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return call('DEL', KEYS[1])
