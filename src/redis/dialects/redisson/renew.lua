-- Prolongs leases of locks that are written as Redisson's RLock, and never shortens one.
-- KEYS  up to 100 locks
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       2i      our owner of lock i
--       2i + 1  its lease in ms
-- Returns {"late", server time}, or a list with one verdict for each key:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other keys are not concerned
local call = redis.call
local not_after = ARGV[1]
--@include refuse_late

local function renew(key, owner, lease)
  if call('HEXISTS', key, owner) == 0 then return 0 end
  --@include prolong
end

--@include renew_each
