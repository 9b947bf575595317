-- Tells who has a lock that is written as Redisson's RLock.
-- KEYS  1 the lock
-- Returns {owner, how often he holds it, ms left, or -1 when it never ends by itself}; {} when
-- nobody has it.
local held = redis.call('HGETALL', KEYS[1])
if #held == 0 then return {} end
return {held[1], tonumber(held[2]) or 1, redis.call('PTTL', KEYS[1])}
