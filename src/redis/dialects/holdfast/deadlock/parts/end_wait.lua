-- Ends a wait. What wrote it down may come once more up to the server time `late`, in us: until
-- then it stands there without a record, and is not written down again. Where memory is too short
-- for that, it is too short for such a copy, too.
local function prolong(key, lease)
  --@include prolong
end
local function end_wait(wait, late)
  if late + 0 < now or type(redis.pcall('HSET', KEYS[1], wait, late .. '\n')) ~= 'number' then
    call('HDEL', KEYS[1], wait)
  else
    prolong(KEYS[1], math.ceil((late - now) / 1000) + 1)
  end
end
