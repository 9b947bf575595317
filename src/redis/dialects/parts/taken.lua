-- Answers for a lock that somebody has, for another `remaining` ms: we do, if it is `mine`, and
-- then this is our `token`. Ends the script.
if mine then
  remaining = math.max(remaining, ARGV[2] + 0)
  call('PEXPIRE', KEYS[1], remaining)  -- also where it changes nothing: see prolong.lua
  return {'mine', token, remaining}
end
if remaining < 0 then return false end
return -remaining
