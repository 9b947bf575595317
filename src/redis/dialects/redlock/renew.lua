-- Prolongs leases, and never shortens one. A lock that has lost too many of its keys is lost, and
-- stays as it is.
-- KEYS  those of up to 100 locks, one lock after another
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       4i - 2  the value that lock i has if it is still ours
--       4i - 1  its lease in ms
--       4i      how many keys it has
--       4i + 1  how many of them must be ours
-- Returns {"late", server time}, or a list with one verdict for each lock:
--   ms > 0   now in force
--   0        not ours any more
--   text     the error of the server; the other locks are not concerned
local call = redis.call
local not_after = ARGV[1]
--@include refuse_late
--@include prolong_each
local function renew(from, to, value, lease, needed)
  local ours = {}
  for i = from, to do
    if redis.pcall('GET', KEYS[i]) == value then ours[#ours + 1] = KEYS[i] end
  end
  return #ours < needed + 0 and 0 or prolong(ours, lease)
end

local verdicts, from = {}, 1
for at = 2, #ARGV, 4 do
  local to = from + ARGV[at + 2] - 1
  local fine, verdict = pcall(renew, from, to, ARGV[at], ARGV[at + 1], ARGV[at + 3])
  -- Before Redis 7 an error is a text, since then a table.
  verdicts[#verdicts + 1] = fine and verdict or verdict.err or verdict
  from = to + 1
end
return verdicts
