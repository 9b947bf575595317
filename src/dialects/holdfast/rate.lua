-- Takes permits of a rate limiter, or gives them back. What is kept is when all permits will be
-- there again, so that a limiter that has rested has no key.
-- KEYS  1 where the answer is remembered
--       2 the limiter: `<when all permits are there> <when that was written>`, in us
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
--@include once
local held, full = call('GET', KEYS[2]), now
if held then
  local ready, written = string.match(held, '^(%d+%.%d+) (%d+)$')
  if not ready then return {'foreign', now} end
  -- A clock that stepped back must not make anybody wait for it.
  full = math.max(now, ready - math.max(0, written - now))
end
local cost, all = ARGV[2] / 1000, ARGV[3] / 1000
local gives_back, last_due = cost < 0, math.ceil(full - all)
full = full + cost
local wait = math.max(0, math.ceil(full - all - now))
local answer
if gives_back and last_due ~= ARGV[4] + 0 then
  answer = 'kept'
elseif not gives_back and wait > ARGV[4] + 0 then
  answer = string.format('wait %.0f', wait)
else
  if full > now then
    call('SET', KEYS[2], string.format('%.3f %.0f', full, now), 'PXAT',
      string.format('%.0f', math.ceil(full / 1000)))
  else
    --@include may_remember
    call('DEL', KEYS[2])
  end
  answer = gives_back and 'back' or string.format('due %.0f', now + wait)
end
--@include remember
