-- Waits no longer.
-- KEYS  1 the queue
--       2 when each waiter asked last
-- ARGV  1 the waiter
-- Returns 0: there is nothing to give back.
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
return 0
