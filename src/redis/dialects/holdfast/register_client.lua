-- Tells who is behind the request ids of a client.
-- KEYS  1 the client's entry in the registry
-- ARGV  1 how long the entry lives, in ms; then field, value, field, value, ...
-- Returns 1. One script, since an entry without an expiry would stay for ever.
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
