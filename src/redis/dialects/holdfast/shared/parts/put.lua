-- The entry of a holder, with what this script has changed and not yet written.
local function entry_of(request)
  for i = 1, #put_in, 2 do
    if put_in[i] == request then return put_in[i + 1] end
  end
  for i = 1, #taken_out do
    if taken_out[i] == request then return nil end
  end
  return call('HGET', KEYS[1], request)
end
-- The same of a holder whose lease has not ended: what has may not be removed yet.
local function living(request)
  local entry = entry_of(request)
  local until_ms = string.match(entry or '', '^%a%d+:%d+:(%d+)')
  return until_ms and until_ms + 0 > now_ms and entry or nil
end
local function take_out(request, mode, weight)
  for i = 1, #put_in, 2 do
    if put_in[i] == request then
      table.remove(put_in, i)
      table.remove(put_in, i)
      break
    end
  end
  taken_out[#taken_out + 1] = request
  held[mode] = held[mode] - weight
end
-- One of the holders has the lock until then.
local function count_in(until_ms)
  if earliest == 0 or until_ms < earliest then earliest = until_ms end
  if until_ms > latest then latest = until_ms end
  if sweep and (sweep.least == 0 or until_ms < sweep.least) then sweep.least = until_ms end
end
-- Makes somebody a holder until `until_ms`: in the place of the holder `replaced`, whose entry
-- `old` is kept with his, should he give back what he was granted before he knew of it. Until he
-- knows, he counts on the lease that he had. Returns until when it lasts.
local function put(request, mode, weight, token, until_ms, replaced, old)
  local old_mode, old_weight, old_token, old_until
  if old then
    old_mode, old_weight, old_token, old_until = string.match(old, '^(%a)(%d+):(%d+):(%d+)')
    if old_until + 0 > until_ms then until_ms = old_until + 0 end
  end
  local entry = mode .. weight .. ':' .. token .. ':' .. string.format('%.0f', until_ms)
  if old then
    take_out(replaced, old_mode, old_weight)
    entry = entry .. ':' .. replaced .. ':' .. old_mode .. old_weight .. ':' .. old_token
  end
  put_in[#put_in + 1] = request
  put_in[#put_in + 1] = entry
  held[mode] = held[mode] + weight
  count_in(until_ms)
  return until_ms
end
