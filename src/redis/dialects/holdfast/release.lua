-- Gives a lock back: to the first who waits, or to nobody.
-- KEYS  1 the lock's value
--       2 its queue
--       3 when each waiter asked last
--       4 the fence counter of its hash slot
-- ARGV  1 the value that it has if it is still ours
-- Returns 1: given back; 0: not ours; 2: so many who waited are gone that finding the next takes
-- another try; we hold it until then. The first write is DEL or PEXPIRE: they pass when memory is
-- short, and what follows a write passes too.
local call = redis.call
if call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if call('PEXPIRE', KEYS[2], '180000') == 0 then return call('DEL', KEYS[1]) end
local floor = string.match(ARGV[1], '^1:(%d+)') + 0
--@include hand_over
