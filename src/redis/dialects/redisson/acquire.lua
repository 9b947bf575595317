-- Asks for a lock that is written as Redisson's RLock.
-- KEYS  1 the lock: a hash, owner -> how often he holds it
-- ARGV  1 our owner, of this attempt alone
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              somebody else holds it for another n ms
--   nil                  somebody else holds it, and it never ends by itself
--   {"late", server time}
-- Where Redisson's own script would count a resend as a second hold, this one does not.
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
local mine = call('HEXISTS', KEYS[1], ARGV[1]) == 1
local remaining = call('PTTL', KEYS[1])
if remaining == -2 then
  call('HSET', KEYS[1], ARGV[1], 1)
  call('PEXPIRE', KEYS[1], ARGV[2])
  return redis.status_reply('OK')
end
local token = 0
--@include taken
