-- Prolongs leases of permits that are written as acquire_permits.lua says, and never shortens one.
-- KEYS  up to 100 sets of leases
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       2i      our permits in set i, see permits_of
--       2i + 1  their lease in ms
-- Returns {"late", server time}, or a list with one verdict for each key:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other keys are not concerned
local call = redis.call
--@include permits_of
--@include write_score

local not_after = ARGV[1]
--@include refuse_late
local now_ms = math.floor(now / 1000)

local function renew(key, owner, lease)
  local permits = permits_of(owner)
  local held_until = tonumber(call('ZSCORE', key, permits[1]))
  if not held_until or held_until <= now_ms then return 0 end
  local ends = math.max(held_until, now_ms + lease)
  -- Takes nothing away: it passes when memory is short, and what follows a write passes too.
  call('ZREM', key, '')
  for _, permit in ipairs(permits) do write_score(key, ends, permit) end
  return ends - now_ms
end

--@include renew_each
