-- Gives back a lock that is one text at one key.
-- KEYS  1 the lock
-- ARGV  1 the value that it has if it is still ours
-- Returns 1: given back; 0: not ours.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
