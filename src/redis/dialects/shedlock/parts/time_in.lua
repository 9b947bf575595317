-- The time in ms that text_of has written into a value.
local function time_in(value)
  local floor = math.floor
  local pattern = 'ADDED:(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)%.(%d+)Z@'
  local year, month, date, hour, minute, second, ms = string.match(value, pattern)
  year, month = year + 0, month + 0
  if month <= 2 then year, month = year - 1, month + 12 end
  local era = floor(year / 400)
  local of_era = year - era * 400
  local days = era * 146097 + of_era * 365 + floor(of_era / 4) - floor(of_era / 100)
               + floor((153 * (month - 3) + 2) / 5) + date - 1 - 719468
  return ((days * 24 + hour) * 60 + minute) * 60000 + second * 1000 + ms
end
