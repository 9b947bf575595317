-- Takes the entry of the request `asked` out of the holders, if it has the token `named` or none is
-- named, and lets those in front of the queue in. `restores`: who has changed his mode becomes what
-- he was before, while his lease lasts; where that does not go together any more with others who
-- have come in, he keeps the new mode. Returns 1: given back; 0: there was none; 2: the queue is
-- not finished. Comes after load.lua.
--@include save
if entry and named and string.match(entry, ':(%d+):') ~= named then
  entry, asked = nil, nil  -- a later grant, like everybody else's
end
if not entry and not waiting then return 0 end
local floor, was, mode, weight, until_ms = 0, '', nil, nil, nil
if entry then
  local token
  mode, weight, token, until_ms, was = string.match(entry, '^(%a)(%d+):(%d+):(%d+):?(.*)$')
  taken_out[1] = asked
  held[mode] = held[mode] - weight
  floor = token + 0
end
if not waiting and not (restores and was ~= '') then
  save()
  return 1
end
local me, lease = nil, nil
--@include server_time
local now_ms = math.floor(now / 1000)
--@include purge
--@include fits
--@include put
if restores and was ~= '' and until_ms + 0 > now_ms then
  local request, old_mode, old_weight, token = string.match(was, '^(.+):(%a)(%d+):(%d+)$')
  if fits(old_mode, old_weight + 0, 4294967295) then mode, weight = old_mode, old_weight end
  put(request, mode, weight, token, until_ms + 0)
end
local unfinished = false
if waiting then
  call('PEXPIRE', KEYS[2], '180000')  -- passes when memory is short, and lets what follows pass
  --@include draw
  --@include pass_on
  unfinished = more
end
save()
if unfinished then return 2 end
return entry and 1 or 0
