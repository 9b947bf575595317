-- Says how many permits a RPermitExpirableSemaphore has, those in use among them.
-- KEYS  1 how many are free; there may be less than none
--       2 the leases
-- ARGV  1 how many there are
--       2 not-after: refused when the server's time in us is later than this
--       3 the channel
--       4 SPUBLISH or nothing, see say
-- Returns 1, or {"late", now}: nothing was done.
local call = redis.call
--@include server_time
local not_after = ARGV[2] + 0
--@include only_in_time
--@include say
local free = call('GET', KEYS[1])
local change = ARGV[1] - (free or 0) - (free and call('ZCARD', KEYS[2]) or 0)
if free and change == 0 then return 1 end
say(ARGV[3], call('INCRBY', KEYS[1], change))
return 1
