-- Sets what is written as Redisson's RCountDownLatch, or counts it down.
-- KEYS  1 where the answer is remembered
--       2 the latch: how often it must still be counted down, decimal; it is open when there is no
--         key, or less than 1
-- ARGV  1 not-after
--       2 `set` or `down`
--       3 how often it must be, or is, counted down
--       4 the channel on which it is made known: 1 when it is set, 0 when it opens
--       5 SPUBLISH or nothing, see say
-- Returns {answer, server time in us}; the answer is
--   ok <left>      done
--   no <left>      it is set already
--   late, foreign  not executed: after not-after; the key holds no latch
-- Where Redisson's own script would count a copy again, this one tells what the first was told.
--@include once
--@include say
local latch, channel = KEYS[2], ARGV[4]
local held = call('GET', latch)
if held and held ~= '0' and not string.find(held, '^-?[1-9]%d*$') then return {'foreign', now} end

-- Theirs are numbers of 64 bits, our callers' of 32.
local function capped(number)
  return string.format('%.0f', math.max(0, math.min(number, 4294967295)))
end

local answer
if ARGV[2] == 'set' and held then
  answer = 'no ' .. capped(held + 0)
elseif ARGV[2] == 'set' then
  call('SET', latch, ARGV[3])
  say(channel, '1')
  answer = 'ok ' .. ARGV[3]
elseif held then
  --@include may_remember
  local left = call('DECRBY', latch, ARGV[3])
  if left <= 0 then
    call('DEL', latch)
    if held + 0 > 0 then say(channel, '0') end
  end
  answer = 'ok ' .. capped(left)
else
  answer = 'ok 0'
end
--@include remember
