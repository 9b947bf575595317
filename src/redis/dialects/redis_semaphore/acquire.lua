-- Asks for permits of what is written as the Semaphore and MultiSemaphore of redis-semaphore.
-- KEYS  1 the permits in use: a sorted set, permit -> when it was taken or refreshed, in ms
-- ARGV  1 our permits, see permits_of
--       2 lease in ms, not longer than the timeout of the permits
--       3 not-after: refused when the server's time in us is later than this
--       4 how many there are
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              there are not so many; the next one is taken back in n ms
--   nil                  there are not so many, and none is in use
--   {"late", server time}
-- A lease stands nowhere: each client takes back what was not refreshed for the timeout. A lease
-- that is shorter is written as a refresh that lies so far back that it ends just then.
local call = redis.call
--@include permits_of
--@include live_on

local not_after = ARGV[3]
--@include refuse_late
local now_ms = math.floor(now / 1000)
local permits, timeout = permits_of(ARGV[1])
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now_ms - timeout)
local before = tonumber(call('ZSCORE', KEYS[1], permits[1]))
if not before and call('ZCARD', KEYS[1]) + #permits > ARGV[4] + 0 then
  local oldest = tonumber(call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2])
  if not oldest or oldest == math.huge then return false end
  return now_ms - timeout - oldest
end
local since = math.max(before or 0, now_ms + ARGV[2] - timeout)
for _, permit in ipairs(permits) do call('ZADD', KEYS[1], since, permit) end
live_on(KEYS[1], timeout)
if before then return {'mine', 0, since + timeout - now_ms} end
return redis.status_reply('OK')
