-- Gives a lock back whose token is not known, because the answer to the acquire never came.
-- KEYS  1 the lock's value
-- ARGV  1 request id
-- Returns 1: given back; 0: not ours. The first write is DEL: it passes when memory is short.
local held = redis.call('GET', KEYS[1])
if held and string.match(held, '^1:%d+:(.+)$') == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
