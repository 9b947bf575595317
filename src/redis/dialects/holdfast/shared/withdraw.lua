-- Gives up waiting, and gives back what was granted meanwhile, known or not. Those behind us in the
-- queue may go on.
-- KEYS  as in acquire.lua
-- ARGV  1 request id
--       2 what stands behind it in the queue
--       3 the token of the grant; nothing: whichever it is. A late copy must not free another
--       4 there: what was changed is not held any more either, and need not become what it was
-- Returns 1: given back; 0: it had not been granted; 2: as in release.lua; 3: it has changed what
-- was held, and others that have come in do not go together with what that was. Nothing is given
-- back then before the holder knows. The first write is ZREM: it passes when memory is short.
local call = redis.call
call('ZREM', KEYS[2], ARGV[1] .. ARGV[2])
call('HDEL', KEYS[3], ARGV[1] .. ARGV[2])
local asked, restores, named = ARGV[1], not ARGV[4], ARGV[3] ~= '' and ARGV[3] or nil
--@include look
--@include load
--@include give_back
