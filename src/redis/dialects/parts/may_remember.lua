-- Comes before a first write that is no SET. Ends the script where its user may not write down the
-- answer: nothing is done that would be told as an error. (XX: nothing is written here.) When
-- memory is short the SET itself passes behind that write, or that write is refused as well.
local trial = redis.pcall('SET', KEYS[1], '', 'XX')
if trial and not string.find(trial.err, 'OOM', 1, true) then return trial end
