-- Gives back a lock that is written as Redisson's RLock, and tells those who wait.
-- KEYS  1 the lock
-- ARGV  1 our owner
--       2 the channel on which its releases are made known: no key, so it needs no right to one;
--         none of a RSpinLock
--       3 SPUBLISH or nothing, see say
-- Returns 1: given back; 0: not ours.
-- Redisson's latch, which keeps a second copy of a release from counting down twice, is not needed:
-- an owner of ours holds once, and no other attempt has his name.
--@include say
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
if ARGV[2] then say(ARGV[2], '0') end
return 1
