-- Writes down which locks a client holds, for people who list locks.
-- KEYS  1 the index: a sorted set of lock names, with the server's time in ms until which each may
--         be held
-- ARGV  1 how long the index lives at least, in ms; then for how long a lock may be held, in ms,
--         its name, the next one, ...
-- Returns 1. A name is never removed before its time, since another client may hold its lock by
-- then. Each call removes more than it can add, so old names do not pile up.
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local gone = call('ZREVRANGEBYSCORE', KEYS[1], now, '-inf', 'LIMIT', 0, 200)
if #gone > 0 then call('ZREM', KEYS[1], unpack(gone)) end
for i = 2, #ARGV, 2 do
  call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[i]), ARGV[i + 1])
end
if call('PTTL', KEYS[1]) < ARGV[1] + 0 then call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
