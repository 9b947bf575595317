-- say(channel, message): makes known what has happened, as other libraries do. In a cluster our
-- last argument is SPUBLISH for Redisson, which sends PUBLISH before Redis 7: there are no such
-- messages then.
local function say(channel, message)
  if ARGV[#ARGV] == 'SPUBLISH' then
    local heard = redis.pcall('SPUBLISH', channel, message)
    if type(heard) == 'number' then return end
  end
  redis.pcall('PUBLISH', channel, message)
end
