-- Sets `now`, the server's time in us, and `text`, the same as text: it is also the usual new
-- major, so that need not be formatted.
local time = call('TIME')
local micros = time[2]
if #micros < 6 then micros = string.sub('00000', #micros) .. micros end
local text = time[1] .. micros
local now = text + 0
