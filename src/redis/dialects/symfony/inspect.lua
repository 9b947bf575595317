-- Tells who has a lock that is written as acquire.lua says.
-- KEYS  1 the lock
-- Returns for each of up to 100, those that end last first, {token, 1, ms left, or -1 when it never
-- ends by itself, r or x}; of a text, as Symfony before 5.2 writes it, {{text, 1, ms left or -1}}.
local call = redis.call
--@include server_ms
if call('TYPE', KEYS[1]).ok == 'string' then
  return {{call('GET', KEYS[1]), 1, call('PTTL', KEYS[1])}}
end
local now_ms = server_ms()
local all = call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. string.format('%.0f', now_ms),
  'WITHSCORES', 'LIMIT', 0, 101)
local mode = 'r'
for i = 1, #all, 2 do
  if all[i] == '__write__' then mode = 'x' end
end
local found = {}
for i = 1, #all, 2 do
  if all[i] ~= '__write__' and #found < 100 then
    local ends = tonumber(all[i + 1])
    found[#found + 1] = {all[i], 1, ends < math.huge and ends - now_ms or -1, mode}
  end
end
return found
