-- Gives a counter the value that a function of its user's computes. One that is zero has no key.
-- KEYS  1 where the answer is remembered
--       2 the counter
-- ARGV  1 not-after
--       2 and so on: the function's arguments
-- Returns {answer, server time in us}; the answer is
--   ok <number>       done; what the counter is now
--   failed <message>  the function failed, or returned no whole number, or one that is 2^53 or
--                     more, or the counter is that far from zero: nothing was changed
--   late, foreign     not executed: after not-after; the key holds no counter
--@include once
--@include held_counter

local function update(value, ARGV)
--@body
end
-- Of whole numbers from 2^53 on a number of Lua's is only one nearby.
local function is_exact(number)
  return math.abs(number) < 9007199254740992
end
local ran, value, answer = true, nil, nil
if is_exact(held + 0) then
  ran, value = pcall(update, held + 0, {unpack(ARGV, 2)})
end
if not is_exact(held + 0) then
  answer = 'failed the counter is ' .. held .. ', and Lua counts exactly only below 2^53'
elseif not ran then
  if type(value) == 'table' then value = value.err end
  answer = 'failed ' .. tostring(value)
elseif value == nil then
  answer = 'ok ' .. held
elseif type(value) ~= 'number' or value % 1 ~= 0 or not is_exact(value) then
  answer = 'failed it must return a whole number below 2^53, or nil'
elseif value == 0 then
  --@include may_remember
  call('DEL', KEYS[2])
  answer = 'ok 0'
else
  local text = string.format('%.0f', value)
  call('SET', KEYS[2], text, 'KEEPTTL')
  answer = 'ok ' .. text
end
--@include remember
