-- Gives back a lock that is one text at several keys: what of it is still ours.
-- KEYS  these
-- ARGV  1 the value that they have if they are still ours
--       2 how many of them must be
-- Returns 1: given back; 0: less of them were ours.
local call = redis.call
local ours = 0
for i = 1, #KEYS do
  -- What is of another type, an error, is not ours either.
  if redis.pcall('GET', KEYS[i]) == ARGV[1] then ours = ours + call('DEL', KEYS[i]) end
end
return ours >= ARGV[2] + 0 and 1 or 0
