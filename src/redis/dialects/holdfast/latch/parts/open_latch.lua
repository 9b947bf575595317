-- Tells those who wait that the latch is open, and forgets them. Sets `more` when it stopped to
-- keep the script short. Nothing depends on the message: who asks is told the same, also when the
-- latch was set again, since for ten minutes it is remembered when it opened. Writes nothing where
-- nobody waits.
--@include channels
local waiting = call('EXISTS', queue) == 1 and redis.pcall('ZPOPMIN', queue, 100) or {}
local more = #waiting == 200
for i = 1, #waiting, 2 do
  local request, claim, way, proof = string.match(waiting[i], '^([^:]+):l(%d+):([-p])(%x+)$')
  redis.pcall('HDEL', asked, waiting[i])
  if way == '-' then
    redis.pcall('PUBLISH', channels .. string.sub(request, 1, 32),
      table.concat({'opened', request, text, claim, text, proof, latch}, ' '))
  end
end
if #waiting > 0 then
  -- Later than the last time, and not before the last of them came, also when the clock was set
  -- back: wait.lua compares them.
  local last = redis.pcall('GET', opened)
  local time = math.max(now, type(last) == 'string' and last + 1 or 0, waiting[#waiting])
  redis.pcall('SET', opened, string.format('%.0f', time), 'PX', 600000)
end
