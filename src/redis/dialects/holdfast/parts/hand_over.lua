-- The lock is taken from its owner and goes to the first who waits. Ends the script. Needs `floor`:
-- the major that is given up.
local me = nil
--@include server_time
--@include draw_major
local winner, claim, more = nil, nil, false
if not refusal then
  --@include pass_on
  if more then return 2 end
  if winner then return 1 end
end
-- Nobody is left. Or no token can be drawn: those who wait will ask, and are told why not.
return call('DEL', KEYS[1])
