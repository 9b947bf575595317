-- Prolongs leases, and never shortens one. A lock that has lost one of its keys is lost, and stays
-- as it is.
-- KEYS  the resources of up to 100 locks, one lock after another
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       3i - 1  the value that lock i has if it is still ours
--       3i      its lease in ms
--       3i + 1  how many keys it has
-- Returns {"late", server time}, or a list with one verdict for each lock:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other locks are not concerned
local call = redis.call
local not_after = ARGV[1]
--@include refuse_late
--@include prolong_each
local function renew(from, to, value, lease)
  for i = from, to do
    if call('GET', KEYS[i]) ~= value then return 0 end
  end
  return prolong(from, to, lease)
end

local verdicts, from = {}, 1
for at = 2, #ARGV, 3 do
  local to = from + ARGV[at + 2] - 1
  local fine, verdict = pcall(renew, from, to, ARGV[at], ARGV[at + 1])
  -- Before Redis 7 an error is a text, since then a table.
  verdicts[#verdicts + 1] = fine and verdict or verdict.err or verdict
  from = to + 1
end
return verdicts
