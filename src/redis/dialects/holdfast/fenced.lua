-- Runs a piece of Lua that the user wrote, unless a newer token has been here before.
-- KEYS  1 where the answer is remembered
--       then the largest token accepted for each key of the user's
--       then these keys
-- ARGV  1 not-after
--       2 the token, decimal
--       3 and so on: the user's arguments
-- Returns {answer, server time in us}; the answer is
--   done            the user's function has run and returned nothing
--   text <text>     the same, with a number or text; what is neither is JSON
--   failed <error>  the same, and it raised an error, or returned a table that has no JSON, or a
--                   number that is 2^53 or more: what it wrote before that stays written
--   stale <token>   a newer token has been accepted
--   late, foreign   not executed: after not-after; a key of ours holds no token
--@include once
local keys, args, n = {}, {unpack(ARGV, 3)}, (#KEYS - 1) / 2
for i = 1, n do
  local last = call('GET', KEYS[1 + i]) or '0'
  if not string.find(last, '^%d+$') then return {'foreign', now} end
  -- Tokens have 64 bits, which Lua's numbers have not; but without leading zeros.
  if #last > #ARGV[2] or #last == #ARGV[2] and last > ARGV[2] then
    local answer = 'stale ' .. last
    --@include remember
  end
  keys[i] = KEYS[1 + n + i]
end
for i = 1, n do call('SET', KEYS[1 + i], ARGV[2]) end

local function write(KEYS, ARGV)
--@body
end
-- From 2^53 on a whole number may be another one nearby.
local function checked(number)
  if math.abs(number) < 9007199254740992 then return number end
  error('it returned a number that is 2^53 or more, which Lua does not hold exactly: return a text')
end
-- cjson writes 14 digits. A number that has more is a text for it, behind what nobody else knows.
local mark = KEYS[1] .. '='
local function with_marks(value)
  if type(value) == 'number' then
    local is_long = checked(value) % 1 == 0 and math.abs(value) >= 100000000000000
    return is_long and mark .. string.format('%.0f', value) or value
  elseif type(value) ~= 'table' then
    return value
  end
  local copy = {}
  for key, one in pairs(value) do copy[key] = with_marks(one) end
  return copy
end
local function said(ran, value)
  if type(value) == 'table' and value.err then
    ran, value = false, value.err
  end
  if not ran then return 'failed ' .. tostring(value) end
  if value == nil or value == false then return 'done' end
  if type(value) == 'number' then return 'text ' .. string.format('%.17g', checked(value)) end
  if type(value) ~= 'table' then return 'text ' .. tostring(value) end
  if type(value.ok) == 'string' then return 'text ' .. value.ok end
  local pattern = '"' .. string.gsub(mark, '%p', '%%%0') .. '(-?%d+)"'
  return 'text ' .. string.gsub(cjson.encode(with_marks(value)), pattern, '%1')
end
-- Not every table has a JSON, but what was written stays, so there must be an answer.
local is_told, answer = pcall(said, pcall(write, keys, args))
if not is_told then answer = 'failed ' .. tostring(answer) end
--@include remember
