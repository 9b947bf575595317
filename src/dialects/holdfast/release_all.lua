-- Gives several locks back for which nobody waits.
-- KEYS  two for each lock: its value, its queue
-- ARGV  one for each lock: the value that it has if it is still ours
-- Returns an answer for each lock as release.lua gives it; 2 also where somebody waits: that one is
-- still held, and must be released by itself. The only write is DEL, which passes when memory is
-- short.
local answers = {}
for i = 1, #ARGV do
  local value, queue = KEYS[2 * i - 1], KEYS[2 * i]
  if redis.pcall('GET', value) ~= ARGV[i] then
    answers[i] = 0
  elseif redis.call('EXISTS', queue) > 0 then
    answers[i] = 2
  else
    answers[i] = redis.call('DEL', value)
  end
end
return answers
