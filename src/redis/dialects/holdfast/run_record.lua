-- Reads and writes the record of a job's last run, so that a job runs once per interval.
-- KEYS  1 where the answer is remembered
--       2 the record: `<when the run began> <how it is> <token>`, the time in us; it is `running`,
--         `succeeded` or `failed`. While it is `running`, ` <when> <how>` of the run before stands
--         behind it, if one was recorded.
-- ARGV  1 not-after
--       2 `look`: whether the job may run; `begin`: the same, by the holder of the job's lock, and
--         if so, the run is recorded; `succeeded`, `failed`, `not_started`: how the recorded run
--         ended
--       3 the token of the lock; 0 to look
--       4 length of an interval in us, 0: there are none
--       5 when intervals begin, in us since 1970, less than their length
--       6 for how long after a run began no other begins, in us
--       7 after which runs the job may run again: `never`, `failed`, `lost` (these and failed ones)
--       8 when the caller asked first, in us; 0: now
-- Returns {answer, server time in us}; the answer is
--   free                to look: the job may run
--   begun               the run is recorded
--   ran <time> <state>  a run counts for this caller: it began in the interval in which the caller
--                       asked first, later, or less than ARGV 6 before
--   stale               a newer token has been recorded
--   ended               how the run ended is recorded
--   late, foreign       not executed: after not-after; the key holds no record
--@include once
local what, mine = ARGV[2], ARGV[3]
local length, offset, least = ARGV[4] + 0, ARGV[5] + 0, ARGV[6] + 0
local record, began, state, token, earlier = call('GET', KEYS[2]), nil, nil, '0', ''
if record then
  began, state, token, earlier = string.match(record, '^(%d+) (%a+) (%d+)(.*)$')
  if not began or earlier ~= '' and not string.match(earlier, '^ %d+ %a+$') or #record > 99 then
    return {'foreign', now}
  end
  began = began + 0
end

local function interval_begin(time)
  return time - math.fmod(time - offset, length)
end

-- A record outlives its interval, for those who asked in it and still wait, and for a clock that
-- steps back.
local function write(time, how, follows)
  local over = math.max(now, time + least, length > 0 and interval_begin(time) + length or 0)
  local ends = over + math.max(length, least, 60000000)
  call('SET', KEYS[2], string.format('%.0f %s %s%s', time, how, mine, follows),
    'PXAT', string.format('%.0f', math.ceil(ends / 1000)))
end

-- Whether the recorded run is one for a caller who asked then.
local function counts(asked)
  if length > 0 and began >= interval_begin(asked) then return true end
  return began > asked - least
end

local function may_run_again()
  if state == 'succeeded' or ARGV[7] == 'never' then return false end
  -- The lock's holder knows that a run which has not ended never will.
  return state == 'failed' or what == 'look' or ARGV[7] == 'lost'
end

local answer
if what == 'look' or what == 'begin' then
  -- The clock may have stepped back since the caller asked.
  local asked = ARGV[8] == '0' and now or math.min(ARGV[8] + 0, now)
  -- Tokens have 64 bits, more than a Lua number holds. Compared by length, then as text.
  local is_stale = #token > #mine or #token == #mine and token > mine
  if began and counts(asked) and not may_run_again() then
    answer = string.format('ran %.0f %s', began, state)
  elseif what == 'look' then
    answer = 'free'
  elseif is_stale then
    answer = 'stale'
  else
    write(now, 'running', began and string.format(' %.0f %s', began, state) or '')
    answer = 'begun'
  end
  if what == 'look' then return {answer, now} end
elseif token ~= mine or state ~= 'running' and state ~= what then
  answer = 'stale'
elseif what == 'not_started' then
  --@include may_remember
  -- The run before this one counts again.
  local time, how = string.match(earlier, '(%d+) (%a+)')
  if time then write(time + 0, how, '') else call('DEL', KEYS[2]) end
  answer = 'ended'
else
  write(began, what, '')
  answer = 'ended'
end
--@include remember
