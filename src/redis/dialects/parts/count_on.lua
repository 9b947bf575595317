-- What a fence counter that holds `last` says about the next major. Sets `shown`, the number it has
-- reached (nil: there is none), `least`, which the next major is at least, and `lead`.
-- Where there is no number, or one that was no time in this century, the counter was lost with all
-- that it had reached. No floor of a client is believed that is `lead` us ahead of the clock, so a
-- major that far ahead is above all.
-- A counter that is ahead of the clock is followed by the time at which it was written. Until the
-- clock has caught up, majors grow at half its speed instead of one by one: so a new master that
-- has not heard of the last majors draws larger ones.
local lead, last_major = 10000000, 4503599627370496
local shown, written = string.match(last or '', '^(%d+) ?(%d*)$')
local least = now + lead
if shown and #shown < 16 then shown = nil end
if shown then
  shown = shown + 0
  local grown = written ~= '' and math.floor((now - written) / 2) or 1
  least = shown + math.max(1, math.min(grown, last_major - shown))
end
