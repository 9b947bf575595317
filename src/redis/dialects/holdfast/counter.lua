-- Changes a counter. One that is zero has no key. Numbers are 64 bits, which Lua's are not: they
-- stay texts here and are added up by the server.
-- KEYS  1 where the answer is remembered
--       2 the counter
-- ARGV  1 not-after
--       2 `add` or `set`
--       3 the number
--       4 the condition: `always`, `is` or `least`
--       5 the number that the counter must be, or be at least
-- Returns {answer, server time in us}; the answer is
--   ok <number>        done; what the counter is now
--   no <number>        the condition does not hold; what the counter is
--   overflow <number>  the sum has more than 64 bits
--   late, foreign      not executed: after not-after; the key holds no counter
--@include once
--@include held_counter

-- Of two whole numbers of any size.
local function is_less(a, b)
  local minus = string.sub(a, 1, 1) == '-'
  if minus ~= (string.sub(b, 1, 1) == '-') then return minus end
  if minus then a, b = b, a end
  if #a ~= #b then return #a < #b end
  return a < b
end

local function negated(number)
  if number == '0' then return number end
  return string.sub(number, 1, 1) == '-' and string.sub(number, 2) or '-' .. number
end

local answer
local unmet = ARGV[4] == 'is' and held ~= ARGV[5] or ARGV[4] == 'least' and is_less(held, ARGV[5])
if unmet then
  answer = 'no ' .. held
elseif ARGV[3] == (ARGV[2] == 'set' and '0' or negated(held)) then
  --@include may_remember
  call('DEL', KEYS[2])
  answer = 'ok 0'
elseif ARGV[2] == 'set' then
  call('SET', KEYS[2], ARGV[3], 'KEEPTTL')
  answer = 'ok ' .. ARGV[3]
else
  --@include may_remember
  local sum = redis.pcall('INCRBY', KEYS[2], ARGV[3])
  if type(sum) ~= 'table' then
    answer = 'ok ' .. call('GET', KEYS[2])
  elseif string.find(sum.err, 'overflow') then
    answer = 'overflow ' .. held
  else
    return sum
  end
end
--@include remember
