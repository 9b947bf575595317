-- Tells those who wait that the latch is open, and forgets them. Sets `more` when it stopped to
-- keep the script short. Nothing depends on the message: who asks is told the same, also when the
-- latch was set again, since for ten minutes it is remembered when it opened.
local waiting = redis.pcall('ZPOPMIN', queue, 200)
local more = #waiting == 400
for i = 1, #waiting, 2 do
  local request, claim, way = string.match(waiting[i], '^([^:]+):(%d+):([-p])$')
  redis.pcall('HDEL', asked, waiting[i])
  if way == '-' then
    redis.pcall('PUBLISH', 'hf:c:' .. string.sub(request, 1, 32),
      table.concat({'grant', request, text, claim, text, latch}, ' '))
  end
end
if #waiting > 0 then
  -- Later than the last time, also when the clock was set back: wait.lua compares them.
  local last, time = redis.pcall('GET', opened), text
  if type(last) == 'string' and last + 0 >= now then time = string.format('%.0f', last + 1) end
  redis.pcall('SET', opened, time, 'PX', 600000)
end
