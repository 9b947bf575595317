-- Says how many permits a RPermitExpirableSemaphore has, those in use among them.
-- KEYS  1 how many are free; there may be less than none
--       2 the leases
-- ARGV  1 how many there are
--       2 the channel
--       3 SPUBLISH or nothing, see say
-- Returns 1.
local call = redis.call
--@include say
local free = call('GET', KEYS[1])
local change = ARGV[1] - (free or 0) - (free and call('ZCARD', KEYS[2]) or 0)
if free and change == 0 then return 1 end
say(ARGV[2], call('INCRBY', KEYS[1], change))
return 1
