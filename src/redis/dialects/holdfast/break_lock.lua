-- Takes a lock away from whoever has it; it goes to the first who waits. For operators.
-- KEYS  1 the lock's value
--       2 its queue
--       3 when each waiter asked last
--       4 the fence counter of its hash slot
-- ARGV  1 not-after: refused when the server's time in us is later than this
-- Returns
--   {"broken", value}     what it was until now
--   {"free"}              nobody had it
--   {"foreign"}           the key holds no lock of ours; untouched
--   {"layout", version}   it was written in another version of this layout; untouched
--   {"late", now}         not-after has passed, or is 2^53; untouched
local call = redis.call
--@include server_time
local not_after = ARGV[1] + 0
--@include only_in_time
local held = call('GET', KEYS[1])
if not held then return {'free'} end
--@include read_value

local last = call('GET', KEYS[4])
call('DEL', KEYS[1])
local broken, floor, me = major, major + 0, nil
if call('EXISTS', KEYS[2]) == 1 then
  --@include draw_major
  local winner, claim, more = nil, nil, false
  -- Where that cannot be, the lock is free and those who wait will ask.
  if not refusal then
    --@include pass_on
    return {'broken', held}
  end
end

-- New majors are above the counter. So with the counter at least at the broken one, that token and
-- all its minors are of the past. A counter that was lost begins above it. What is further ahead of
-- the clock than a floor may be is not believed: the counter is that of other locks, too.
--@include count_on
if shown and shown < floor and floor < now + lead then
  call('SET', KEYS[4], floor > now and broken .. ' ' .. text or broken)
end
return {'broken', held}
