-- Sets a latch, or counts it down.
-- KEYS  1 where the answer is remembered
--       2 the latch: `1l:` and how often it must still be counted down; no key: it is open
--       3 its queue
--       4 when each waiter asked last
--       5 when it last opened while somebody waited: server time in us
-- ARGV  1 not-after
--       2 `set` or `down`
--       3 how often it must be, or is, counted down
-- Returns {answer, server time in us}; the answer is
--   ok <left>      done
--   no <left>      it is set already
--   opened <more>  done: it is open now. 1: not all who wait are told yet, send `down 0`
--   late, foreign  not executed: after not-after; the key holds no latch
-- The first write is DEL or SET of the latch, or lets those go on who wait.
--@include once
local latch, queue, asked, opened = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
--@include load_latch
local answer
local number = ARGV[3] + 0
if ARGV[2] == 'set' and left then
  answer = 'no ' .. left
elseif ARGV[2] == 'set' then
  -- Who waits since before it opened shall not wait for the next time.
  --@include open_latch
  if more then
    answer = 'opened 1'
  else
    call('SET', latch, '1l:' .. ARGV[3])
    answer = 'ok ' .. ARGV[3]
  end
elseif left and left + 0 > number then
  left = string.format('%.0f', left - number)
  call('SET', latch, '1l:' .. left)
  answer = 'ok ' .. left
else
  --@include may_remember
  call('DEL', latch)
  --@include open_latch
  answer = more and 'opened 1' or 'opened 0'
end
--@include remember
