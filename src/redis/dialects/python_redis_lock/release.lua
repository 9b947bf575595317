-- Gives back a lock of python-redis-lock, and wakes one of those who wait for it there.
-- KEYS  1 the lock
--       2 the list on which they wait, with BLPOP
-- ARGV  1 the value that it has if it is still ours
-- Returns 1: given back; 0: not ours.
local call = redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
call('DEL', KEYS[1], KEYS[2])
call('LPUSH', KEYS[2], 1)
-- As its own locks leave it when nobody waits: who begins to within a second asks once more.
call('PEXPIRE', KEYS[2], 1000)
return 1
