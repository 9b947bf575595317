-- Prolongs leases of locks that are written as acquire.lua says, and never shortens one.
-- KEYS  up to 100 locks
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       2i      our token in lock i
--       2i + 1  its lease in ms
-- Returns {"late", server time}, or a list with one verdict for each key:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other keys are not concerned
local call = redis.call
--@include end_of
--@include lives_as_long

local not_after = ARGV[1]
--@include refuse_late
local now_ms = math.floor(now / 1000)

local function renew(key, token, lease)
  local held_until = end_of(key, token)
  if not held_until or held_until <= now_ms then return 0 end
  local ends = math.max(held_until, now_ms + lease)
  -- Takes nothing away: it passes when memory is short, and what follows a write passes too.
  call('ZREM', key, '')
  call('ZADD', key, 'XX', ends, token)
  -- It is there beside nobody but a writer.
  call('ZADD', key, 'XX', ends, '__write__')
  lives_as_long(key)
  return ends - now_ms
end

--@include renew_each
