-- Asks for a lock that is written as Redisson's RFairLock, and stands in its queue if told to.
-- KEYS  1 the lock: a hash, owner -> how often he holds it
--       2 the queue: a list of owners
--       3 their times: a sorted set, owner -> when he counts as dead, in ms
-- ARGV  1 our owner, of this attempt alone
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 how long one in the queue may keep those behind him waiting, in ms
--       5 1: stands in the queue when it is not ours
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   {"queued", place, ms, 0, server time}
--                        somebody else holds it for another ms, or is before us
--   -n <= 0              the same, and we do not stand in the queue
--   nil                  the same, and his lease never ends
--   {"late", server time}
-- Each time is that of the one before, or of the lock, and ARGV[4] more: who leaves takes as much
-- from all behind him. Who asks again is alive: he is given that time anew, which Redisson is not.
local call = redis.call
--@include first_in_line

local not_after = ARGV[3]
--@include refuse_late
local now_ms = math.floor(now / 1000)
local mine = call('HEXISTS', KEYS[1], ARGV[1]) == 1
local remaining = call('PTTL', KEYS[1])
local place = call('LPOS', KEYS[2], ARGV[1])
if place then
  local known = tonumber(call('ZSCORE', KEYS[3], ARGV[1])) or 0
  call('ZADD', KEYS[3], math.max(known, now_ms + ARGV[4] * (place + 1)), ARGV[1])
end
local first = first_in_line(KEYS[2], KEYS[3], now_ms)
if remaining == -2 then
  if not first or first == ARGV[1] then
    call('LPOP', KEYS[2])
    call('ZREM', KEYS[3], ARGV[1])
    for _, other in ipairs(call('ZRANGE', KEYS[3], 0, -1)) do
      call('ZINCRBY', KEYS[3], -ARGV[4], other)
    end
    call('HSET', KEYS[1], ARGV[1], 1)
    call('PEXPIRE', KEYS[1], ARGV[2])
    return redis.status_reply('OK')
  end
  remaining = 0
end
if mine or ARGV[5] ~= '1' then
  local token = 0
  --@include taken
end
local a_day = 86400000
local until_then = remaining < 0 and a_day or remaining
if not place then
  local last = call('LINDEX', KEYS[2], -1)
  local before = last and call('ZSCORE', KEYS[3], last)
  call('ZADD', KEYS[3], (before or now_ms + until_then) + ARGV[4], ARGV[1])
  call('RPUSH', KEYS[2], ARGV[1])
end
return {'queued', call('LPOS', KEYS[2], ARGV[1]), until_then, 0, now}
