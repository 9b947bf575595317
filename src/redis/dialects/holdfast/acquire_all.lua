-- Asks for several locks at once: all of them, or none. Nobody waits here.
-- KEYS  their values; then their queues; then the fence counters of their hash slots, each once
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       2 floor: the new major is above it
--       then two for each lock: request id, lease in ms
-- Returns
--   major > 0                   all are granted, with this major
--   0                           one is not free, or no common major can be drawn: acquire.lua tells
--                               why a lock is refused, and may grant each with a major of its own
--   {"late", server time}       not-after has passed
local call = redis.call
--@include server_time
if now > ARGV[1] + 0 then return {'late', now} end

local count = #ARGV / 2 - 1
if call('EXISTS', unpack(KEYS, 1, 2 * count)) > 0 then return 0 end

-- The rules of draw_major, for all counters together.
local major = math.max(now, ARGV[2] + 1)
local counters, raised = call('MGET', unpack(KEYS, 2 * count + 1)), {}
for i = 1, #counters do
  local last, counter = counters[i], KEYS[2 * count + i]
  if not last then call('GET', counter) end  -- refuses what MGET and MSET pass over: other types
  --@include count_on
  major = math.max(major, least)
  -- What is further ahead of the clock is one counter's trouble, and stays there.
  if major > now + lead then return 0 end
  raised[2 * i - 1] = counter
end
local kept = text
if major > now then
  text = string.format('%.0f', major)
  kept = text .. ' ' .. kept
end
for i = 1, #counters do raised[2 * i] = kept end
call('MSET', unpack(raised))  -- the first write
local granted = '1:' .. text .. ':'
for i = 1, count do
  call('SET', KEYS[i], granted .. ARGV[2 * i + 1], 'PX', ARGV[2 * i + 2])
end
return major
