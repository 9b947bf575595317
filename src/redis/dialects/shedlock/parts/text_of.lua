-- A time in ms as ShedLock writes it: 2026-11-22T14:52:47.001Z.
local function text_of(ms)
  local floor = math.floor
  local day, rest = floor(ms / 86400000), ms % 86400000
  -- Years begin in March here, so that a leap day is the last of its year; 146097 days are 400
  -- years. See Howard Hinnant, chrono-compatible low-level date algorithms.
  local z = day + 719468
  local era = floor(z / 146097)
  local of_era = z - era * 146097
  local year = floor((of_era - floor(of_era / 1460) + floor(of_era / 36524)
                      - floor(of_era / 146096)) / 365)
  local of_year = of_era - (365 * year + floor(year / 4) - floor(year / 100))
  local month = floor((5 * of_year + 2) / 153)
  local date = of_year - floor((153 * month + 2) / 5) + 1
  year = year + era * 400 + (month >= 10 and 1 or 0)
  month = month < 10 and month + 3 or month - 9
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, date,
                       floor(rest / 3600000), floor(rest / 60000) % 60, floor(rest / 1000) % 60,
                       rest % 1000)
end
