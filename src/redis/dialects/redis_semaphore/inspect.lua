-- Tells who has permits, as acquire.lua writes them.
-- KEYS  1 the permits in use
-- ARGV  1 after how many ms a permit is taken back that was not refreshed
-- Returns for each of up to 100, those that end last first, {permit, 1, ms left, or -1 when it
-- never ends by itself, s}.
local call = redis.call
--@include server_ms
local since = server_ms() - ARGV[1]
local all = call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. string.format('%.0f', since),
  'WITHSCORES', 'LIMIT', 0, 100)
local found = {}
for i = 1, #all, 2 do
  local left = all[i + 1] - since
  found[#found + 1] = {all[i], 1, left < math.huge and left or -1, 's'}
end
return found
