-- Gives several locks back for which nobody waits.
-- KEYS  their values; then their queues
-- ARGV  one for each lock: the value that it has if it is still ours
-- Returns 1: all are given back. Or an answer for each lock as release.lua gives it; 2 also where
-- somebody waits: that one is still held, and must be released by itself. The only write is DEL,
-- which passes when memory is short.
local call = redis.call
local count = #ARGV
local held = call('MGET', unpack(KEYS, 1, count))
local waited_for = call('EXISTS', unpack(KEYS, count + 1)) > 0
local answers, free = {}, {}
for i = 1, count do
  if held[i] ~= ARGV[i] then
    answers[i] = 0
  elseif waited_for and call('EXISTS', KEYS[count + i]) > 0 then
    answers[i] = 2
  else
    answers[i] = 1
    free[#free + 1] = KEYS[i]
  end
end
if #free > 0 then call('DEL', unpack(free)) end
if #free == count then return 1 end
return answers
