-- Gives back permits of what is written as acquire.lua says.
-- KEYS  1 the permits in use
-- ARGV  1 our permits, see permits_of
-- Returns 1: given back; 0: not ours any more. Also then those that nobody has taken back yet go.
local call = redis.call
--@include server_ms
--@include permits_of

local permits, timeout = permits_of(ARGV[1])
local before = tonumber(call('ZSCORE', KEYS[1], permits[1]))
if not before then return 0 end
call('ZREM', KEYS[1], unpack(permits))
return before + timeout > server_ms() and 1 or 0
