-- Reads who holds the lock, as look.lua has found it. Sets `held`, how many hold it in each mode
-- (permits: how many are in use), `earliest`, before which no lease of theirs ends, `latest`, after
-- which none is left (both in ms), the `family` of what is held, m: modes, s: permits, and
-- `waiting`, whether there is a queue. What is no lock of ours ends the script. What is changed is
-- kept in `put_in` and `taken_out` for save.lua. `sweep` is set while purge.lua has not seen all.
local held = {n = 0, c = 0, d = 0, r = 0, p = 0, x = 0, u = 0, s = 0}
local earliest, latest, family = 0, 0, nil
local put_in, taken_out, sweep = {}, {}, nil
local waiting = there == 2
if summary then
  local e, l, n, c, d, r, p, x, u, s
  family, e, l, n, c, d, r, p, x, u, s = string.match(summary,
    '^1([ms]):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+):(%d+)$')
  if not family then
    local version = string.match(summary, '^(%d%d?%d?)[ms]:')
    if version and version ~= '1' then return {'layout', version} end
    return {'foreign'}
  end
  earliest, latest = e + 0, l + 0
  held = {n = n + 0, c = c + 0, d = d + 0, r = r + 0, p = p + 0, x = x + 0, u = u + 0, s = s + 0}
elseif there > 0 then
  if call('EXISTS', KEYS[1]) == 1 then return {'foreign'} end
  waiting = true
end
