-- Looks at a member's vote for a lock; writes nothing.
-- KEYS  1 the lock's value at this member
--       2 there while this member does not vote, since it may have forgotten whom it voted for
--       3 who wants to hear that the lock is free
-- Returns {type, the beginning of the value, remaining ms (-1: no expiry), for how many ms the
-- member does not vote, how many want to hear}
local kind = redis.call('TYPE', KEYS[1]).ok
local value = kind == 'string' and string.sub(redis.call('GET', KEYS[1]), 1, 128)
local waiting = redis.call('TYPE', KEYS[3]).ok == 'zset' and redis.call('ZCARD', KEYS[3]) or 0
return {kind, value, redis.call('PTTL', KEYS[1]), math.max(redis.call('PTTL', KEYS[2]), 0), waiting}
