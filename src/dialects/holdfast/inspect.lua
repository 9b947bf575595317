-- Looks at a lock; writes nothing.
-- KEYS  1 the lock's value
-- Returns {type, beginning of the value or nil, remaining ms (-1: no expiry), server time in us}
local kind = redis.call('TYPE', KEYS[1]).ok
local value = kind == 'string' and string.sub(redis.call('GET', KEYS[1]), 1, 128)
local time = redis.call('TIME')
return {kind, value, redis.call('PTTL', KEYS[1]), time[1] * 1000000 + time[2]}
