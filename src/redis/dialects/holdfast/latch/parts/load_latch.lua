-- Sets `left`: how often the latch must still be counted down; nil: it is open. What is no latch
-- ends the script, and so does a queue of those who wait for a lock of another kind: that may be
-- free just now.
local held = call('GET', latch)
local left = held and string.match(held, '^1l:(%d+)$')
if held and not left then return {'foreign', now} end
local whose = string.match(redis.pcall('ZRANGE', queue, 0, 0)[1] or '', '^[^:]+:(%a)')
if whose and whose ~= 'l' then return {'foreign', now} end
