-- Asks for several locks at once: all of them, or none. Nobody waits here.
-- KEYS  their values; then their queues; then the fence counters of their hash slots, each once
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       2 floor: the new major is above it
--       then two for each lock: request id, lease in ms
-- Returns
--   major > 0                   all are granted, with this major
--   0                           one is not free, or no major can be drawn: why that is, acquire.lua
--                               tells who asks for them one by one
--   {"late", server time}       not-after has passed
local call = redis.call
--@include server_time
if now > ARGV[1] + 0 then return {'late', now} end

local count = #ARGV / 2 - 1
if call('EXISTS', unpack(KEYS, 1, 2 * count)) > 0 then return 0 end

-- The rules of draw_major, for all counters together.
local floor, major = ARGV[2] + 0, now
if floor >= now then major = floor + 1 end
local last, raised = call('MGET', unpack(KEYS, 2 * count + 1)), {}
for i = 1, #last do
  local counter = KEYS[2 * count + i]
  local reached = last[i] and tonumber(last[i])
  if reached and reached >= major and string.find(last[i], '^%d+$') then major = reached + 1 end
  if not last[i] then call('GET', counter) end  -- refuses what MGET and MSET pass over: other types
  raised[2 * i - 1] = counter
end
if floor > now + 86400000000 or major > 4503599627370496 then return 0 end
if major > now then text = string.format('%.0f', major) end
for i = 1, #last do raised[2 * i] = text end
call('MSET', unpack(raised))  -- the first write
local granted = '1:' .. text .. ':'
for i = 1, count do
  call('SET', KEYS[i], granted .. ARGV[2 * i + 1], 'PX', ARGV[2 * i + 2])
end
return major
