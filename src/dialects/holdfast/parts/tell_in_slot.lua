-- Stands in front of each script of ours that publishes, in its form for clusters: a message goes
-- to where the client listens for this lock within the hash slot, and to every node only when it
-- does not, or the server is older than Redis 7. The third key has the lock's name in its braces.
local function publish(channel, message)
  local here = channel .. ':' .. string.match(KEYS[3], '{.-}')
  local listeners = redis.pcall('SPUBLISH', here, message)
  if type(listeners) == 'number' and listeners > 0 then return listeners end
  return redis.pcall('PUBLISH', channel, message)
end
