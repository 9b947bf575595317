-- Tells who has permits, as acquire_permits.lua writes them.
-- KEYS  1 the leases
-- Returns for each of up to 100, those that end last first, {permit in hex, 1, ms left, or -1 when
-- it never ends by itself, "s"}.
local call = redis.call
--@include server_ms
local never = 922337203685477
local now_ms = server_ms()
local all = call('ZREVRANGEBYSCORE', KEYS[1], '+inf', '(' .. string.format('%.0f', now_ms),
  'WITHSCORES', 'LIMIT', 0, 100)
local found = {}
for i = 1, #all, 2 do
  local ends = all[i + 1] + 0
  local hex = all[i]:gsub('.', function(c) return string.format('%02x', c:byte()) end)
  found[#found + 1] = {hex, 1, ends < never and ends - now_ms or -1, 's'}
end
return found
