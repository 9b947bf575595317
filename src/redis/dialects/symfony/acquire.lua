-- Asks for a lock that is written as Symfony's RedisStore does.
-- KEYS  1 the lock: a sorted set, token -> when its lease ends, server time in ms. The token of the
--         writer has __write__ beside it, with the same time; without that all are readers
-- ARGV  1 our token, of this attempt alone
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 read or write
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              others hold it, the last of them for another n ms
--   nil                  the same, and it never ends by itself
--   {"late", server time}
-- Symfony before 5.2 writes a text instead, which keeps everybody out, as in later versions.
local call = redis.call
--@include lives_as_long
local not_after = ARGV[3]
--@include refuse_late
if call('TYPE', KEYS[1]).ok == 'string' then
  local remaining = call('PTTL', KEYS[1])
  if remaining < 0 then return false end
  return -remaining
end
local now_ms = math.floor(now / 1000)
local writes = ARGV[4] == 'write'
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms)
local held_until = tonumber(call('ZSCORE', KEYS[1], ARGV[1]))
if not held_until then
  local last = tonumber(call('ZREVRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
  if last and (writes or call('ZSCORE', KEYS[1], '__write__')) then
    if last == math.huge then return false end
    return now_ms - last
  end
end
local ends = math.max(held_until or 0, now_ms + ARGV[2])
call('ZADD', KEYS[1], ends, ARGV[1])
if writes then call('ZADD', KEYS[1], ends, '__write__') end
lives_as_long(KEYS[1])
if held_until then return {'mine', 0, ends - now_ms} end
return redis.status_reply('OK')
