-- Gives back a lock that is one text at each of its keys: what of it is still ours.
-- KEYS  the resources
-- ARGV  1 the value that they have if they are still ours
-- Returns 1: given back; 0: one of them at least was not ours.
local call = redis.call
local ours = 0
for i = 1, #KEYS do
  -- What is of another type, an error, is not ours either.
  if redis.pcall('GET', KEYS[i]) == ARGV[1] then ours = ours + call('DEL', KEYS[i]) end
end
return ours == #KEYS and 1 or 0
