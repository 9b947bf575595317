-- Gives a counter the value that a function of its user's computes. One that is zero has no key.
-- KEYS  1 where the answer is remembered
--       2 the counter
-- ARGV  1 not-after
--       2 and so on: the function's arguments
-- Returns {answer, server time in us}; the answer is
--   ok <number>       done; what the counter is now
--   failed <message>  the function failed, or returned no whole number: nothing was changed
--   late, foreign     not executed: after not-after; the key holds no counter
--@include once
local held = call('GET', KEYS[2]) or '0'
if held ~= '0' and not string.find(held, '^-?[1-9]%d*$') then return {'foreign', now} end

local function update(value, ARGV)
--@body
end
local ran, value = pcall(update, held + 0, {unpack(ARGV, 2)})
local answer
if not ran then
  if type(value) == 'table' then value = value.err end
  answer = 'failed ' .. tostring(value)
elseif value == nil then
  answer = 'ok ' .. held
elseif type(value) ~= 'number' or value % 1 ~= 0 or math.abs(value) > 9007199254740992 then
  answer = 'failed it must return a whole number up to 2^53, or nil'
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
