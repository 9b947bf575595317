-- Grants what nobody holds and nobody waits for, and ends the script. What follows would do the
-- same; this takes the server half the time. Comes after look.lua.
if there == 0 and replaced == '' then
  local permits = mode == 's' and call('GET', KEYS[5]) or limit
  if mode == 's' and weight > (tonumber(permits) or 0) then return {'never', permits} end
  --@include draw_major
  if refusal then return refusal end
  local until_ms, weight = string.format('%.0f', now_ms + lease), ARGV[6]
  --@include sole
  call('HSET', KEYS[1], '=', '1' .. asked_family .. ':' .. until_ms .. ':' .. until_ms .. sole,
    me, mode .. weight .. ':' .. text .. ':' .. until_ms)
  call('PEXPIREAT', KEYS[1], until_ms)
  return major
end
