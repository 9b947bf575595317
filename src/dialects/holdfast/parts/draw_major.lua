-- Draws the next major: sets `major` and its `text`, or `refusal` to the reply that says why not.
-- Needs `now`, `text` and `floor`; KEYS[4] is the counter. The SET of the counter is the first
-- write where nothing was written before; it also checks the counter's type.
local major, refusal = now, nil
if floor >= now then
  if floor > now + 86400000000 then refusal = {'skew', now} end
  major = floor + 1
  text = string.format('%.0f', major)
end
-- What is no decimal number is replaced and counts for nothing: the time is above every token that
-- was given out. A number that is not below ours (two grants in one us, or a clock that stepped
-- back) is counted on from.
local last = not refusal and redis.pcall('SET', KEYS[4], text, 'GET')
if type(last) == 'table' then
  refusal, last = last, nil
end
local reached = last and tonumber(last)
if reached and reached >= major and string.find(last, '^%d+$') then
  if reached >= 4503599627370496 then
    call('SET', KEYS[4], last)
    refusal = {'counter', string.sub(last, 1, 40)}
  else
    major = reached + 1
    text = string.format('%.0f', major)
    call('SET', KEYS[4], text)
  end
end
