-- Gives up waiting, and gives back what was granted meanwhile, known or not. Those behind us in the
-- queue may go on.
-- KEYS  as in acquire.lua
-- ARGV  1 request id
--       2 what stands behind it in the queue
--       3 the token of the grant; not there: whichever it is. A late copy must not free another
-- Returns 1: given back; 0: it had not been granted; 2: as in release.lua. The first write is ZREM:
-- it passes when memory is short.
local call = redis.call
call('ZREM', KEYS[2], ARGV[1] .. ARGV[2])
call('HDEL', KEYS[3], ARGV[1] .. ARGV[2])
local asked, restores, named = ARGV[1], true, ARGV[3]
--@include look
--@include load
--@include give_back
