-- Prolongs leases of permits that are written as acquire.lua says, and never shortens one.
-- KEYS  up to 100 semaphores
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       2i      our permits of semaphore i, see permits_of
--       2i + 1  their lease in ms; more than the timeout of the permits counts as that
-- Returns {"late", server time}, or a list with one verdict for each key:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other keys are not concerned
local call = redis.call
--@include permits_of
--@include live_on
--@include write_score

local not_after = ARGV[1]
--@include refuse_late
local now_ms = math.floor(now / 1000)

local function renew(key, owner, lease)
  local permits, timeout = permits_of(owner)
  local before = tonumber(call('ZSCORE', key, permits[1]))
  if not before or before + timeout <= now_ms then return 0 end
  local since = math.max(before, now_ms + math.min(lease, timeout) - timeout)
  -- Takes nothing away: it passes when memory is short, and what follows a write passes too.
  call('ZREM', key, '')
  for _, permit in ipairs(permits) do write_score(key, since, permit) end
  live_on(key, timeout)
  return since + timeout - now_ms
end

--@include renew_each
