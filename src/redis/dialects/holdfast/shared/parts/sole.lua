-- Sets `sole`: how a summary ends where one holder's `mode` and `weight` are all that is held.
local digit = 2 * string.find('ncdrpxus', mode, 1, true)
local sole = ':0:0:0:0:0:0:0:0'
sole = string.sub(sole, 1, digit - 1) .. weight .. string.sub(sole, digit + 1)
