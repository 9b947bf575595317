-- Asks for a lock that is written as ShedLock's.
-- KEYS  1 the lock
-- ARGV  1 how our value ends, of this attempt alone: `@<host>:<uuid>`
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              somebody else holds it for another n ms
--   nil                  somebody else holds it, and it never ends by itself
--   {"late", server time}
-- When it was acquired stands in the value, by the server's clock: release.lua counts from it.
local call = redis.call
--@include text_of
local not_after = ARGV[3]
--@include refuse_late
local held = call('GET', KEYS[1])
if not held then
  local value = 'ADDED:' .. text_of(math.floor(now / 1000)) .. ARGV[1]
  return call('SET', KEYS[1], value, 'PX', ARGV[2])
end
local mine = string.sub(held, -#ARGV[1]) == ARGV[1]
local remaining = call('PTTL', KEYS[1])
local token = 0
--@include taken
