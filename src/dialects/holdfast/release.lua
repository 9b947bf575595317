-- Gives a lock back.
-- KEYS  1 the lock's value
-- ARGV  1 the value that it has if it is still ours
-- Returns 1: given back; 0: not ours. The first write is DEL: it passes when memory is short.
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
