-- Sets `held` to the counter at KEYS[2], as text. What is no number of 64 bits as the server writes
-- them ("01", "-0", "1e3") ends the script: counter.cpp refuses the same.
local held = call('GET', KEYS[2]) or '0'
do
  local sign, digits = string.match(held, '^(-?)([1-9]%d*)$')
  local largest = sign == '-' and '9223372036854775808' or '9223372036854775807'
  if held ~= '0' and (not digits or #digits > 19 or #digits == 19 and digits > largest) then
    return {'foreign', now}
  end
end
