-- Looks at a lock; writes nothing.
-- KEYS  1 the lock's value
--       2 its queue
-- Returns {type, beginning of the value or nil, remaining ms (-1: no expiry), server time in us,
-- how many wait, {waiter, ticket, waiter, ticket, ...}: the first 100 of them}
local kind = redis.call('TYPE', KEYS[1]).ok
local value = kind == 'string' and string.sub(redis.call('GET', KEYS[1]), 1, 128)
local time = redis.call('TIME')
local waiting, first = 0, {}
if redis.call('TYPE', KEYS[2]).ok == 'zset' then
  waiting = redis.call('ZCARD', KEYS[2])
  first = redis.call('ZRANGE', KEYS[2], 0, 99, 'WITHSCORES')
end
return {kind, value, redis.call('PTTL', KEYS[1]), time[1] * 1000000 + time[2], waiting, first}
