-- Sets `last`, what the counter has reached; nil where there is none: what is no number counts as
-- none. 0 says that the member has no memory, and when it votes again its clock begins the counter:
-- that is above every token, since counters do not outrun clocks.
local last = call('GET', KEYS[2])
last = last and string.find(last, '^%d+$') and tonumber(last)
