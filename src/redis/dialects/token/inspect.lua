-- Tells who has a lock that is one text at one key.
-- KEYS  1 the lock
-- Returns {{value, 1, ms left, or -1 when it never ends by itself}}; {} when nobody has it.
local held = redis.call('GET', KEYS[1])
if not held then return {} end
return {{held, 1, redis.call('PTTL', KEYS[1])}}
