-- Stands in front of each script of ours that publishes, in its form for clusters: a message goes
-- to where the client listens for this lock within the hash slot, and to every node only when it
-- does not, or the server is older than Redis 7. The third key has the lock's name in its braces.
-- Both commands count who listens at this node, and tell who listens at another one as well, as at
-- a master that has just become a replica. Who is not counted is taken for gone, and the next one
-- has the lock with the same token: he must not believe that he has it. So a grant is told only
-- where somebody is counted, when all have been told to ask in a moment.
local function publish(channel, message)
  redis.set_repl(redis.REPL_ALL)  -- see tell_grant
  local word, request = string.match(message, '^(%a+) (%S+)')
  local is_grant = word ~= 'next' and word ~= 'wanted'
  local first = is_grant and 'next ' .. request .. ' 20' or message
  local how, where = 'SPUBLISH', channel .. ':' .. string.match(KEYS[3], '{.-}')
  local listeners = redis.pcall(how, where, first)
  if type(listeners) ~= 'number' or listeners == 0 then
    how, where = 'PUBLISH', channel
    listeners = redis.pcall(how, where, first)
  end
  if not is_grant or type(listeners) ~= 'number' or listeners == 0 then return listeners end
  return redis.pcall(how, where, message)
end
