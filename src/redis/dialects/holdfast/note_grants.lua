-- Writes down what grants of a client are for, beside who the client is.
-- KEYS  1 the client's entry in the registry
-- ARGV  1 how long the entry lives at least, in ms; then field, note, field, note, ...; an empty
--         note removes the field
-- Returns 1. One script, since an entry without an expiry would stay for ever.
for i = 2, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    redis.call('HDEL', KEYS[1], ARGV[i])
  else
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[1]) then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
