-- Asks for a lock that is written as Redisson's RFencedLock.
-- KEYS  1 the lock: a hash, owner -> how often he holds it
--       2 the last token of this lock, a number that only grows
-- ARGV  1 our owner, of this attempt alone
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   token > 0            granted, for the lease asked for
--   {"mine", token, ms}  an earlier copy of this request was granted; ms are in force now
--   -n <= 0              somebody else holds it for another n ms
--   nil                  somebody else holds it, and it never ends by itself
--   {"late", server time}
-- While we hold it nobody else draws a token, so a resend learns that of its first copy.
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
local mine = call('HEXISTS', KEYS[1], ARGV[1]) == 1
local remaining = call('PTTL', KEYS[1])
local last = call('GET', KEYS[2])
local token = tonumber(last)
if token and token >= 9007199254740991 then
  return redis.error_reply('ERR the token ' .. last .. ' at ' .. KEYS[2] ..
    ' is too large to be told exactly (2^53)')
end
if remaining == -2 then
  token = call('INCR', KEYS[2])
  call('HSET', KEYS[1], ARGV[1], 1)
  call('PEXPIRE', KEYS[1], ARGV[2])
  return token
end
--@include taken
