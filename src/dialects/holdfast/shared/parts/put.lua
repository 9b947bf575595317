-- Makes somebody a holder until `until_ms`: in the place of the holder `replaced`, whose entry
-- `old` is kept with his, should he give back what he was granted before he knew of it. Until he
-- knows, he counts on the lease that he had.
local function put(request, mode, weight, token, until_ms, replaced, old)
  local old_mode, old_weight, old_token, old_until
  if old then
    old_mode, old_weight, old_token, old_until = string.match(old, '^(%a)(%d+):(%d+):(%d+)')
    if old_until + 0 > until_ms then until_ms = old_until + 0 end
  end
  local entry = mode .. weight .. ':' .. token .. ':' .. string.format('%.0f', until_ms)
  if old then
    taken_out[#taken_out + 1] = replaced
    held[old_mode] = held[old_mode] - old_weight
    entry = entry .. ':' .. replaced .. ':' .. old_mode .. old_weight .. ':' .. old_token
  end
  put_in[#put_in + 1] = request
  put_in[#put_in + 1] = entry
  held[mode] = held[mode] + weight
  if earliest == 0 or until_ms < earliest then earliest = until_ms end
  if until_ms > latest then latest = until_ms end
end
