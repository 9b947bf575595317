-- Draws the next major: sets `major` and its `text`, or `refusal` to the reply that says why not.
-- Needs `now`, `text` and `floor`; KEYS[4] is the counter. The SET of the counter is the first
-- write where nothing was written before; SET and GET also check the counter's type.
local major, refusal = now, nil
local last = floor < now and redis.pcall('SET', KEYS[4], text, 'GET')
  or floor >= now and redis.pcall('GET', KEYS[4])
if type(last) == 'table' then
  refusal = last
elseif floor >= now or not last or #last ~= #text or last >= text or
    not string.find(last, '^%d+$') then
  -- Not the usual case, in which both are behind the clock.
  --@include count_on
  if least > last_major then
    if floor < now then call('SET', KEYS[4], last) end
    refusal = {'counter', string.sub(last, 1, 40)}
  elseif floor >= now + lead and (not shown or shown < floor) then
    refusal = {'skew', now}
  else
    major = math.max(now, floor + 1, least)
    local kept = text
    if major > now then
      text = string.format('%.0f', major)
      kept = text .. ' ' .. kept
    end
    local set = redis.pcall('SET', KEYS[4], kept)
    if set.err then refusal = set end
  end
end
