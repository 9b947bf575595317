-- Asks for permits of what is written as Redisson's RPermitExpirableSemaphore, or as its RSemaphore
-- with the leases of our own holders beside it.
-- KEYS  1 how many are free
--       2 the leases: a sorted set, permit -> when its lease ends, server time in ms
-- ARGV  1 our permits, see permits_of
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 how many there are, when nobody has said it yet
--       5 the channel on which it is made known that some are free
--       6 SPUBLISH or nothing, see say
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              there are not so many; the next lease ends in n ms, or has ended
--   nil                  the same, and no lease ever ends
--   {"late", server time}
-- As in Redisson, whoever asks takes back what the dead had, a thousand permits at a time.
local call = redis.call
--@include permits_of
--@include say

local not_after = ARGV[3]
--@include refuse_late
local now_ms = math.floor(now / 1000)
local ended = call('ZRANGEBYSCORE', KEYS[2], '-inf', now_ms, 'LIMIT', 0, 1000)
if #ended > 0 then
  call('ZREM', KEYS[2], unpack(ended))
  say(ARGV[5], call('INCRBY', KEYS[1], #ended))
end
local permits = permits_of(ARGV[1])
local ends = now_ms + ARGV[2]
local held_until = tonumber(call('ZSCORE', KEYS[2], permits[1]))
if held_until then
  ends = math.max(ends, held_until)
  for _, permit in ipairs(permits) do call('ZADD', KEYS[2], ends, permit) end
  return {'mine', 0, ends - now_ms}
end
local free = call('GET', KEYS[1])
if not free then
  free = ARGV[4]
  call('SET', KEYS[1], free)
  say(ARGV[5], free)
end
if free + 0 >= #permits then
  call('DECRBY', KEYS[1], #permits)
  for _, permit in ipairs(permits) do call('ZADD', KEYS[2], ends, permit) end
  local remaining = call('PTTL', KEYS[1])
  if remaining > 0 then call('PEXPIRE', KEYS[2], remaining) end
  return redis.status_reply('OK')
end
local never = 922337203685477
local next_end = tonumber(call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2])
if not next_end or next_end >= never then return false end
return math.min(0, now_ms - next_end)
