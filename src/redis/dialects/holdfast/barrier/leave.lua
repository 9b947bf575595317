-- Takes a party that gives up out of those who have arrived.
-- KEYS  1 the barrier
--       2 its queue
--       3 when each party asked last
-- ARGV  1 the party, as it stands in the queue
-- Returns 0: there is nothing to give back.
local call = redis.call
local left = call('ZREM', KEYS[2], ARGV[1])
call('HDEL', KEYS[3], ARGV[1])
-- What is no barrier may have come to its key when that had expired.
if left == 1 and call('EXISTS', KEYS[2]) == 0 then
  local held = redis.pcall('GET', KEYS[1])
  if type(held) == 'string' and string.find(held, '^1b:') then call('DEL', KEYS[1]) end
end
return 0
