-- Asks `renew(key, who, lease)` of each key, for a verdict or an error that concerns this key
-- alone. Ends the script.
local verdicts = {}
for i = 1, #KEYS do
  local fine, verdict = pcall(renew, KEYS[i], ARGV[2 * i], ARGV[2 * i + 1])
  -- Before Redis 7 an error is a text, since then a table.
  verdicts[i] = fine and verdict or verdict.err or verdict
end
return verdicts
