-- Asks for a lock that is one text at one key.
-- KEYS  1 the lock
-- ARGV  1 the value to write
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 `again` if an earlier copy of this request may have been executed, otherwise `first`
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              somebody else holds it for another n ms
--   nil                  somebody else holds it, and it never ends by itself
--   {"late", server time}
-- The value proves only then that the lock is ours when this request was sent before: others may
-- write the same, where it is fixed.
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
local held = call('GET', KEYS[1])
if not held then return call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
local mine = held == ARGV[1] and ARGV[4] == 'again'
local remaining = call('PTTL', KEYS[1])
local token = 0
--@include taken
