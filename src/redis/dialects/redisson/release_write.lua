-- Gives back a write lock that is written as Redisson's, and tells all who wait.
-- KEYS  1 the lock
-- ARGV  1 our owner
--       2 the channel on which it is made known: no key, so it needs no right to one
--       3 SPUBLISH or nothing, see say
-- Returns 1: given back; 0: not ours.
-- A writer of ours never reads beside that, so nobody is left in the hash.
--@include say
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('DEL', KEYS[1])
say(ARGV[2], '1')
return 1
