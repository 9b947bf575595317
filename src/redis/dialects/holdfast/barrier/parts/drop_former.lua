-- Forgets who went on more than a minute ago, but for the last four generations, and more than the
-- last 10,000. It must not forget whose arrival may still come a second time: a copy of a request,
-- until its not-after. He would count again.
local known = call('ZCARD', KEYS[5])
local spare = math.max(known - 10000, call('ZCOUNT', KEYS[5], '-inf', now - 60000000))
spare = math.min(spare, known - 4 * parties)
if spare > 0 then call('ZPOPMIN', KEYS[5], spare) end
