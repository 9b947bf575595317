-- Looks at a lock; writes nothing.
-- KEYS  1 the lock's value or its holders
--       2 its queue
--       3 how many permits there are, where an operator has said it
--       4 the fence counter of its hash slot
-- Returns {type, value, remaining ms (-1: no expiry), server time in us, how many wait, {waiter,
-- ticket, waiter, ticket, ...}: the first 100 of them, permits or nil, counter or nil}. The value
-- is the beginning of a string; of a hash {summary or nil, number of fields, {field, value, ...}:
-- of many a part}. Of every text only the first 128 bytes: other programs may write these keys,
-- too, and no answer may be of any size.
local function beginning_at(key)
  return redis.call('GETRANGE', key, 0, 127)
end
local function beginnings(texts)
  for i = 1, #texts do texts[i] = texts[i] and string.sub(texts[i], 1, 128) end
  return texts
end
local kind = redis.call('TYPE', KEYS[1]).ok
local value = false
if kind == 'string' then
  value = beginning_at(KEYS[1])
elseif kind == 'hash' then
  local fields = redis.call('HLEN', KEYS[1])
  local shown = fields <= 500 and redis.call('HGETALL', KEYS[1])
    or redis.call('HSCAN', KEYS[1], 0, 'COUNT', 200)[2]
  value = {beginnings({redis.call('HGET', KEYS[1], '=')})[1], fields, beginnings(shown)}
end
local time = redis.call('TIME')
local waiting, first = 0, {}
if redis.call('TYPE', KEYS[2]).ok == 'zset' then
  waiting = redis.call('ZCARD', KEYS[2])
  first = beginnings(redis.call('ZRANGE', KEYS[2], 0, 99, 'WITHSCORES'))
end
local function text_at(key)
  return redis.call('TYPE', key).ok == 'string' and beginning_at(key)
end
return {kind, value, redis.call('PTTL', KEYS[1]), time[1] * 1000000 + time[2], waiting, first,
  text_at(KEYS[3]), text_at(KEYS[4])}
