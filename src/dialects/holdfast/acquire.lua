-- Asks for a lock.
-- KEYS  1 the lock's value
--       2 the fence counter of its hash slot; left out for a lock without tokens
-- ARGV  1 request id
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 floor: the new major is above it; left out for a lock without tokens
-- Returns
--   major > 0                   granted, for the lease asked for
--   "OK"                        the same for a lock without tokens
--   -n <= 0                     somebody else holds it for another n ms
--   {"mine", major, ms}         this request has been granted before; ms are in force now
--   {"late", server time}       not-after has passed
--   {"foreign"}                 the key holds no lock of ours
--   {"persistent"}              it is our layout, but somebody took its expiry away
--   {"layout", version}         it was written in another version of this layout
--   {"skew", server time}       the floor is more than a day ahead of the server's clock
--   {"counter", content}        the counter is too large to be counted on exactly (2^52)
-- Whatever is not a grant has changed nothing. Errors of the server (wrong type, out of memory)
-- come as they are, and before anything was changed: the SET of the counter is the first write,
-- and it also checks the counter's type.
local call = redis.call

-- The time as text is also the usual new major, so it need not be formatted.
local time = call('TIME')
local micros = time[2]
if #micros < 6 then micros = string.sub('00000', #micros) .. micros end
local text = time[1] .. micros
local now = text + 0
if now > ARGV[3] + 0 then return {'late', now} end

local held = call('GET', KEYS[1])
if held then
  local major, owner = string.match(held, '^1:(%d+):(.+)$')
  if not major then
    local version = string.match(held, '^(%d%d?%d?):')
    if version and version ~= '1' then return {'layout', version} end
    return {'foreign'}
  end
  local remaining = call('PTTL', KEYS[1])
  if owner == ARGV[1] then
    local lease = ARGV[2] + 0
    if remaining < lease then
      call('PEXPIRE', KEYS[1], ARGV[2])
      remaining = lease
    end
    return {'mine', major, remaining}
  end
  if remaining < 0 then return {'persistent'} end
  return -remaining
end

if not KEYS[2] then
  return call('SET', KEYS[1], '1:0:' .. ARGV[1], 'PX', ARGV[2])
end

local major = now
local floor = ARGV[4] + 0
if floor >= now then
  if floor > now + 86400000000 then return {'skew', now} end
  major = floor + 1
  text = string.format('%.0f', major)
end
-- What is no decimal number is replaced and counts for nothing: the time is above every token that
-- was given out. A number that is not below ours (two grants in one us, or a clock that stepped
-- back) is counted on from.
local last = call('SET', KEYS[2], text, 'GET')
local reached = last and tonumber(last)
if reached and reached >= major and string.find(last, '^%d+$') then
  if reached >= 4503599627370496 then
    call('SET', KEYS[2], last)
    return {'counter', string.sub(last, 1, 40)}
  end
  major = reached + 1
  text = string.format('%.0f', major)
  call('SET', KEYS[2], text)
end
call('SET', KEYS[1], '1:' .. text .. ':' .. ARGV[1], 'PX', ARGV[2])
return major
