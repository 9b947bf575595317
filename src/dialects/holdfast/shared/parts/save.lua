-- Writes what load.lua has read. The key lives as long as the last lease of its holders.
local sum = held.n + held.c + held.d + held.r + held.p + held.x + held.u + held.s
if sum <= 0 then
  if summary then call('DEL', KEYS[1]) end
else
  local after = string.format('1%s:%.0f:%.0f:%d:%d:%d:%d:%d:%d:%d:%d', held.s > 0 and 's' or 'm',
    earliest, latest, held.n, held.c, held.d, held.r, held.p, held.x, held.u, held.s)
  if after ~= summary then
    call('HSET', KEYS[1], '=', after)
    call('PEXPIREAT', KEYS[1], string.format('%.0f', latest))
  end
end
