-- Takes permits of a rate limiter, or gives them back. What is kept is when all permits will be
-- there again, so that a limiter that has rested has no key.
-- KEYS  1 where the answer is remembered
--       2 the limiter: `<when all permits are there> <when that was written>`, in us; the first
--         with three decimals
-- ARGV  1 not-after
--       2 how long these permits take to come back, in ns; negative: they are given back
--       3 how long all permits take, in ns
--       4 how long the caller is willing to wait, in us; or when those were due that he gives back
-- Returns {answer, server time in us}; the answer is
--   due <time>     taken; they may be used from then on
--   wait <us>      not taken, since they may be used only after such a time
--   back           given back
--   kept           not given back, since somebody has asked later and was told when his are due:
--                  they would come on top of his
--   late, foreign  not executed: after not-after; the key holds no limiter
-- A double holds the time in us exactly, and not in ns. So this counts the ns that are `left` from
-- now until all permits are there, a whole number.
--@include once
local held, left = call('GET', KEYS[2]), 0
if held then
  local whole, rest, written = string.match(held, '^(%d+)%.(%d%d%d) (%d+)$')
  if not whole then return {'foreign', now} end
  -- A clock that stepped back must not make anybody wait for it.
  left = math.max(0, (whole - math.max(now, written + 0)) * 1000 + rest)
end
-- So many whole us, rounded up.
local function in_us(ns)
  local rest = math.fmod(ns, 1000)
  return (ns - rest) / 1000 + (rest > 0 and 1 or 0)
end
local cost, all = ARGV[2] + 0, ARGV[3] + 0
local gives_back, last_due = cost < 0, now + in_us(left - all)
left = left + cost
local wait = math.max(0, in_us(left - all))
local answer
if gives_back and last_due ~= ARGV[4] + 0 then
  answer = 'kept'
elseif not gives_back and (wait > ARGV[4] + 0 or left >= 9007199254740992) then
  answer = string.format('wait %.0f', wait)
else
  if left > 0 then
    local rest = math.fmod(left, 1000)
    call('SET', KEYS[2], string.format('%.0f.%03d %.0f', now + (left - rest) / 1000, rest, now),
      'PXAT', string.format('%.0f', math.ceil((now + in_us(left)) / 1000)))
  else
    --@include may_remember
    call('DEL', KEYS[2])
  end
  answer = gives_back and 'back' or string.format('due %.0f', now + wait)
end
--@include remember
