-- Writes what has changed since load.lua. The key lives as long as the last lease of its holders.
-- Deletions come first: they pass when memory is short, and what follows a write passes too.
local function save()
  local sum = held.n + held.c + held.d + held.r + held.p + held.x + held.u + held.s
  if sum <= 0 then
    if summary then call('DEL', KEYS[1]) end
    summary, sweep, earliest, latest = nil, nil, 0, 0
  else
    if #taken_out > 0 then call('HDEL', KEYS[1], unpack(taken_out)) end
    local after = string.format('1%s:%.0f:%.0f:%d:%d:%d:%d:%d:%d:%d:%d', held.s > 0 and 's' or 'm',
      earliest, latest, held.n, held.c, held.d, held.r, held.p, held.x, held.u, held.s)
    if sweep then
      put_in[#put_in + 1] = '>'
      put_in[#put_in + 1] = sweep.cursor .. string.format(':%.0f', sweep.least)
    end
    if after ~= summary or #put_in > 0 then
      call('HSET', KEYS[1], '=', after, unpack(put_in))
      call('PEXPIREAT', KEYS[1], string.format('%.0f', latest))
      summary = after
    end
  end
  put_in, taken_out = {}, {}
end
