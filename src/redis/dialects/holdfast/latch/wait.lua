-- Asks whether a latch is open, and waits for it.
-- KEYS  1 the latch
--       2 its queue: waiter -> since when he waits, server time in us
--       3 when each waiter asked last: waiter -> server time in us
--       4 when it last opened while somebody waited
-- ARGV  1 request id
--       2 not-after: refused when the server's time in us is later than this
-- who waits also gives
--       3 what stands behind the request id in the queue, as in acquire.lua
--       4 since when he waits, as he was told, or 0
--       5 how many may wait
-- Returns
--   {"open", "0"}          go on
--   {"shut"}               it is not open, and the request does not wait
--   {"queued", place, ms, since when, server time, new}
--                          it waits; for the ms see waiting_times.hpp, for `new` acquire.lua
--   {"foreign", server time}   the key holds no latch
--   {"full", limit}, {"late", server time}   as in acquire.lua
local call = redis.call
--@include server_time
if now > ARGV[2] + 0 then return {'late', now} end
local latch, queue, asked, opened = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
--@include load_latch
local member = ARGV[3] and ARGV[1] .. ARGV[3]
local passed = not left
local last = left and member and call('GET', opened)
if last and ARGV[4] ~= '0' then
  -- It may have opened, and have been set again, since he began to wait.
  passed = last + 0 >= ARGV[4] + 0
end
if passed then
  -- Also of one who does not wait: a replica, which may not know that the latch was set again, must
  -- not answer that it is open, and refuses what writes.
  local left_queue = redis.pcall('ZREM', queue, member or '')
  if type(left_queue) == 'table' and string.find(left_queue.err, 'READONLY', 1, true) then
    return left_queue
  end
  if member then redis.pcall('HDEL', asked, member) end
  if not left then
    --@include open_latch
  end
  return {'open', '0'}
end
if not member then return {'shut'} end
local since, new = call('ZSCORE', queue, member), 0
if not since then
  new = 1
  since = ARGV[4]
  if since == '0' then
    if call('ZCARD', queue) >= ARGV[5] + 0 then return {'full', ARGV[5]} end
    -- Later than it last opened, also when the clock was set back.
    since = text
    if last and last + 0 >= now then since = string.format('%.0f', last + 1) end
  end
end
-- Each with its end behind it: where the next one fails, nothing is left for ever.
call('HSET', asked, member, text)
call('PEXPIRE', asked, '180000')
if new == 1 then call('ZADD', queue, since, member) end
call('PEXPIRE', queue, '180000')
return {'queued', call('ZRANK', queue, member), 60000, since, now, new}
