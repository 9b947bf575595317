-- Sets `last`, what the counter has reached; nil where there is none: what is no number counts as
-- none. `zero` stands in front of the number, and is '0' where the member has lost its memory: what
-- it was told since is only that of one lock, others of the slot may have reached more. When it
-- votes again its clock begins the counter: that is above every token, since counters do not outrun
-- clocks.
local last = call('GET', KEYS[2])
last = last and string.match(last, '^%d+$')
local zero = (not last or string.sub(last, 1, 1) == '0') and '0' or ''
last = last and tonumber(last)
