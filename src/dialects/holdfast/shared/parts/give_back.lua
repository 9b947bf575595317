-- Takes `entry`, which is that of ARGV[1] or none, out of the holders, and lets those in front of
-- the queue in when `waiting`. `restores`: who has changed his mode becomes what he was
-- before, if that still goes together with the others. Returns 2 when it was not finished.
--@include server_time
local floor, me, lease = 0, nil, nil
--@include load
--@include fits
--@include put
if entry then
  local mode, weight, token, until_ms, before = string.match(entry, '^(%a)(%d+):(%d+):(%d+):?(.*)$')
  call('HDEL', KEYS[1], ARGV[1])
  held[mode] = held[mode] - weight
  floor = token + 0
  if restores and before ~= '' then
    local was, was_mode, was_weight, was_token = string.match(before, '^(.+):(%a)(%d+):(%d+)$')
    if fits(was_mode, was_weight + 0, 4294967295) then
      put(was, was_mode, was_weight, was_token, until_ms + 0)
    end
  end
end
if waiting then
  --@include purge
  --@include draw
  --@include pass_on
  if more then
    --@include save
    return 2
  end
end
--@include save
