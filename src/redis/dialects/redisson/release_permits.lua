-- Gives back permits of what is written as acquire_permits.lua says, and tells those who wait.
-- KEYS  1 how many are free
--       2 the leases
-- ARGV  1 our permits, see permits_of
--       2 the channel
--       3 SPUBLISH or nothing, see say
-- Returns 1: given back; 0: not ours any more. Also then those that nobody has taken back yet are.
local call = redis.call
--@include server_ms
--@include permits_of
--@include say

local permits = permits_of(ARGV[1])
local held_until = tonumber(call('ZSCORE', KEYS[2], permits[1]))
if not held_until then return 0 end
local given = call('ZREM', KEYS[2], unpack(permits))
say(ARGV[2], call('INCRBY', KEYS[1], given))
return held_until > server_ms() and 1 or 0
