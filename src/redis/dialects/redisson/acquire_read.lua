-- Asks for the read lock of what is written as Redisson's RReadWriteLock.
-- KEYS  1 the lock: a hash, mode -> read or write, and owner -> how often he holds it
-- ARGV  1 our owner, of this attempt alone
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
-- Returns
--   OK                   granted, for the lease asked for
--   {"mine", 0, ms}      an earlier copy of this request was granted; ms are in force now
--   -n <= 0              a writer holds it for another n ms, or it is a RLock
--   nil                  the same, and it never ends by itself
--   {"late", server time}
-- Beside the hash each hold of a reader has a key with his lease. That of the hash is the longest
-- of them, and is not shortened here.
local call = redis.call
--@include keep_reader

local not_after = ARGV[3]
--@include refuse_late
local mode = call('HGET', KEYS[1], 'mode')
local remaining = call('PTTL', KEYS[1])
if remaining ~= -2 and mode ~= 'read' then
  if remaining < 0 then return false end
  return -remaining
end
call('HSET', KEYS[1], 'mode', 'read')
local mine = call('HSETNX', KEYS[1], ARGV[1], 1) == 0
local his = keep_reader(KEYS[1], ARGV[1], ARGV[2], remaining)
if mine then return {'mine', 0, his} end
return redis.status_reply('OK')
