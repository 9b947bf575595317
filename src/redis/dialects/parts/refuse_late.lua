-- Ends the script when the server's time in us, `now`, is later than `not_after`.
local time = call('TIME')
local now = time[1] * 1000000 + time[2]
if now > not_after + 0 then return {'late', now} end
