-- Sets `left`: how often the latch must still be counted down; nil: it is open. What is no latch
-- ends the script.
local held = call('GET', latch)
local left = held and string.match(held, '^1l:(%d+)$')
if held and not left then return {'foreign', now} end
