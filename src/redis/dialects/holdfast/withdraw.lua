-- Gives up waiting, and gives back what was granted meanwhile, known or not.
-- KEYS  1 the lock's value
--       2 its queue
--       3 when each waiter asked last
--       4 the fence counter of its hash slot
-- ARGV  1 request id
--       2 what stands behind it in the queue
--       3 the major of the grant; not there: whichever it is. A late copy must not free another
-- Returns 1: given back; 0: it had not been granted; 2: as in release.lua. The first write is ZREM
-- or DEL: they pass when memory is short.
local call = redis.call
local member = ARGV[1] .. ARGV[2]
local was_first = call('ZRANK', KEYS[2], member) == 0
call('ZREM', KEYS[2], member)
call('HDEL', KEYS[3], member)
local held = call('GET', KEYS[1])
local major, owner = string.match(held or '', '^1:(%d+):(.+)$')
if owner ~= ARGV[1] or ARGV[3] and major ~= ARGV[3] then
  if was_first then
    local me, looked, unheard = nil, 0, {}
    local claim = math.max(0, call('PTTL', KEYS[1]))
    --@include channels
    --@include tell_next
  end
  return 0
end
if call('PEXPIRE', KEYS[2], '180000') == 0 then return call('DEL', KEYS[1]) end
local floor = major + 0
--@include hand_over
