-- Gives back a lock that is written as ShedLock's: at once, or when it was locked long enough.
-- KEYS  1 the lock
-- ARGV  1 how our value ends: `@<host>:<uuid>`
--       2 for how many ms after it was acquired nobody else may have it
-- Returns 1: given back; 0: not ours.
-- While it stays locked it has no uuid any more, as of an older ShedLock: so no late copy of a
-- request of ours takes it for its own.
local call = redis.call
--@include time_in
local held = call('GET', KEYS[1])
if not held or string.sub(held, -#ARGV[1]) ~= ARGV[1] then return 0 end
local least = ARGV[2] + 0
local rest = 0
if least > 0 then
  local time = call('TIME')
  rest = time_in(held) + least - math.floor(time[1] * 1000 + time[2] / 1000)
end
if rest <= 0 then return call('DEL', KEYS[1]) end
rest = math.min(rest, least)
call('PEXPIRE', KEYS[1], rest)  -- passes when memory is short, and what follows a write passes too
call('SET', KEYS[1], string.match(held, '^(.*):'), 'PX', rest)
return 1
