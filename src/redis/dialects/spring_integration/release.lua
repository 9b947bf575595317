-- Gives back a lock of a Spring registry in the mode PUB_SUB_LOCK, and tells those who wait.
-- KEYS  1 the lock
-- ARGV  1 the value that it has if it is still ours
--       2 the channel on which its releases are made known: no key, so it needs no right to one
-- Returns 1: given back; 0: not ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.pcall('PUBLISH', ARGV[2], KEYS[1])
return 1
