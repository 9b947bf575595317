-- Who may hold the lock together: the modes of the classic lock managers (NL, CR, CW, PR, PW, EX)
-- and U, which readers bear and no second U; `s` are permits, of which there is a number.
local against = {n = '', c = 'x', d = 'rpxu', r = 'dpx', p = 'drpxu', x = 'cdrpxu', u = 'dpxu'}
-- Whether `mode` goes together with what is held, not counting the entry `but`.
local function fits(mode, weight, limit, but)
  local but_mode, but_weight = string.match(but or '', '^(%a)(%d+):')
  if mode == 's' then
    local used = held.s
    if but_mode == 's' then used = used - but_weight end
    return used + weight <= limit + 0
  end
  for other in string.gmatch(against[mode], '.') do
    local count = held[other]
    if other == but_mode then count = count - 1 end
    if count > 0 then return false end
  end
  return true
end
