-- Takes the entry of the request `asked` out of the holders, if it has the token `named` or none is
-- named, and lets those in front of the queue in. `restores`: a holder that has changed its mode
-- becomes what it was before, while its lease lasts. Where that does not go together any more with
-- others that have come in, nothing is done: until the holder knows that it cannot be what it was,
-- nobody may come in beside what it has become. Returns 1: given back; 0: there was none; 2: not
-- finished, ask again; 3: it cannot become what it was. Comes after load.lua.
--@include save
if entry and named and string.match(entry, ':(%d+):') ~= named then
  entry, asked = nil, nil  -- a later grant, like everybody else's
end
if not entry and not waiting then return 0 end
local floor, was, mode, weight, until_ms = 0, '', nil, nil, nil
if entry then
  local token
  mode, weight, token, until_ms, was = string.match(entry, '^(%a)(%d+):(%d+):(%d+):?(.*)$')
  floor = token + 0
end
local changed = restores and was ~= ''
if entry and not changed then
  taken_out[1] = asked
  held[mode] = held[mode] - weight
  if not waiting then
    save()
    return 1
  end
end
local me, lease, comes_in = nil, nil, false
local more, grace, overdue = false, nil, false
--@include server_time
local now_ms = math.floor(now / 1000)
-- Passes when memory is short, and lets what follows pass.
if waiting then call('PEXPIRE', KEYS[2], '180000') end
--@include purge
--@include fits
--@include put
if changed then
  local request, old_mode, old_weight, token = string.match(was, '^(.+):(%a)(%d+):(%d+)$')
  local lasts = until_ms + 0 > now_ms
  if lasts and not fits(old_mode, old_weight + 0, 4294967295, entry) then
    count_in(until_ms + 0)  -- purge.lua has not
    save()
    return sweep and 2 or 3
  end
  take_out(asked, mode, weight)
  if lasts then put(request, old_mode, old_weight, token, until_ms + 0) end
end
if waiting then
  --@include draw
  --@include pass_on
end
save()
if more then return 2 end
return entry and 1 or 0
