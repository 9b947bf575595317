-- Writes down which locks a client holds, for people who list locks.
-- KEYS  1 the index: a sorted set of lock names, with the server's time in ms until which each may
--         be held
-- ARGV  1 how long the index lives at least, in ms; then for how long a lock may be held, in ms,
--         behind a `=` where it may be less than is written there, its name, the next one, ...
-- Returns 1. A name is never removed before its time, since another client may hold its lock by
-- then. Each call removes up to 200 names and adds up to 100, so old ones do not pile up.
local call = redis.call
--@include server_ms
local now = server_ms()
local gone = call('ZREVRANGEBYSCORE', KEYS[1], now, '-inf', 'LIMIT', 0, 200)
if #gone > 0 then call('ZREM', KEYS[1], unpack(gone)) end
for i = 2, #ARGV, 2 do
  local exactly, time = string.match(ARGV[i], '^(=?)(%d+)$')
  local ends = string.format('%.0f', now + time)
  if exactly == '=' then
    call('ZADD', KEYS[1], ends, ARGV[i + 1])
  else
    call('ZADD', KEYS[1], 'GT', ends, ARGV[i + 1])
  end
end
if call('PTTL', KEYS[1]) < ARGV[1] + 0 then call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1
