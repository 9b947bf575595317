-- Asks for several locks at once: all of them, or none. Nobody waits here.
-- KEYS  three for each lock: its value, its queue, the fence counter of its hash slot
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       then three for each lock: request id, lease in ms, floor
-- Returns {"late", server time}, or an answer for each lock as acquire.lua gives it: all are
-- granted, or none is. Then those that were free, or cannot be asked for like this, answer 0.
local call = redis.call
--@include server_time
if now > ARGV[1] + 0 then return {'late', now} end

local count = #KEYS / 3
local none, kept = {}, {}
for i = 1, count do
  none[i] = 0
  kept[2 * i - 1], kept[2 * i] = KEYS[3 * i - 2], KEYS[3 * i - 1]
end
if call('EXISTS', unpack(kept)) > 0 then return none end

-- As a rule the time is above all counters and floors: then one command raises them all, each by as
-- many as there are locks of its slot. Missing counters are drawn from one by one.
local answers, texts, counters, raised, place, together = {}, {}, {}, {}, {}, true
for i = 1, count do
  local counter, major, digits = KEYS[3 * i], now, text
  local at = place[counter]
  if at then
    major = raised[at] + 1
    digits = string.format('%.0f', major)
  else
    counters[#counters + 1] = counter
    at = 2 * #counters
    place[counter], raised[at - 1] = at, counter
  end
  raised[at], answers[i], texts[i] = digits, major, digits
  together = together and ARGV[3 * i + 1] + 0 < now
end
local last = call('MGET', unpack(counters))
for i = 1, #counters do
  local reached = tonumber(last[i] or '')
  together = together and reached and reached < now
end
if together then
  call('MSET', unpack(raised))
else
  for i = 1, count do
    local KEYS, text, floor = {[4] = KEYS[3 * i]}, text, ARGV[3 * i + 1] + 0
    --@include draw_major
    if refusal then
      none[i] = refusal
      return none
    end
    answers[i], texts[i] = major, text
  end
end
for i = 1, count do
  call('SET', KEYS[3 * i - 2], '1:' .. texts[i] .. ':' .. ARGV[3 * i - 1], 'PX', ARGV[3 * i])
end
return answers
