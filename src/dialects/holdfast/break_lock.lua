-- Takes a lock away from whoever has it. For operators.
-- KEYS  1 the lock's value
--       2 the fence counter of its hash slot
-- Returns
--   {"broken", value}     what it was until now
--   {"free"}              nobody had it
--   {"foreign"}           the key holds no lock of ours; untouched
--   {"layout", version}   it was written in another version of this layout; untouched
local held = redis.call('GET', KEYS[1])
if not held then return {'free'} end
local major = string.match(held, '^1:(%d+):.+$')
if not major then
  local version = string.match(held, '^(%d%d?%d?):')
  if version and version ~= '1' then return {'layout', version} end
  return {'foreign'}
end

-- New majors are above the counter. So with the counter at least at the broken one, that token and
-- all its minors are of the past, also if the counter was lost meanwhile.
local last = redis.call('GET', KEYS[2])
local reached = last and string.find(last, '^%d+$') and tonumber(last) or 0
local broken = tonumber(major)
redis.call('DEL', KEYS[1])
if reached < broken and broken <= 4503599627370496 then redis.call('SET', KEYS[2], major) end
return {'broken', held}
