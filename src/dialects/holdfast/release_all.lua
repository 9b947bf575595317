-- Gives several locks back for which nobody waits.
-- KEYS  two for each lock: its value, its queue
-- ARGV  one for each lock: the value that it has if it is still ours
-- Returns an answer for each lock as release.lua gives it; 2 also where somebody waits: that one is
-- still held, and must be released by itself. The only write is DEL, which passes when memory is
-- short.
local values, queues = {}, {}
for i = 1, #ARGV do values[i], queues[i] = KEYS[2 * i - 1], KEYS[2 * i] end
local held = redis.call('MGET', unpack(values))
local waited_for = redis.call('EXISTS', unpack(queues)) > 0
local answers, free = {}, {}
for i = 1, #ARGV do
  if held[i] ~= ARGV[i] then
    answers[i] = 0
  elseif waited_for and redis.call('EXISTS', queues[i]) > 0 then
    answers[i] = 2
  else
    answers[i] = 1
    free[#free + 1] = values[i]
  end
end
if #free > 0 then redis.call('DEL', unpack(free)) end
return answers
