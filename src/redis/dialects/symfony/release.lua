-- Gives back a lock that is written as acquire.lua says.
-- KEYS  1 the lock
-- ARGV  1 our token
-- Returns 1: given back; 0: not ours any more.
-- A token whose lease has ended is taken away too, as are those of others. Before anybody else can
-- have come in as the writer it is gone: so __write__ is never another's.
local call = redis.call
--@include server_ms
--@include end_of
--@include lives_as_long

local held_until = end_of(KEYS[1], ARGV[1])
if not held_until then return 0 end
local now_ms = server_ms()
call('ZREM', KEYS[1], ARGV[1], '__write__')
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms)
lives_as_long(KEYS[1])
return held_until > now_ms and 1 or 0
