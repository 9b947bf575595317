-- Answers for a lock that somebody has, for another `remaining` ms: we do, if it is `mine`, and
-- then this is our `token`. Ends the script.
if mine then
  if remaining < ARGV[2] + 0 then
    call('PEXPIRE', KEYS[1], ARGV[2])
    remaining = ARGV[2] + 0
  end
  return {'mine', token, remaining}
end
if remaining < 0 then return false end
return -remaining
