-- Drops who is gone from the queue: nobody listens to his channel, or he has not asked for long;
-- and what is no party.
-- Sets `others` to those who are there, without `me`: each once, though he may stand there in two
-- ways, as after a late copy of what he asked when he still listened.
--@include channels
local others, counted = {}, {[me] = true}
for _, party in ipairs(call('ZRANGE', KEYS[2], 0, -1)) do
  local request, claim, way, proof = string.match(party, '^([^:]+):b(%d+):([-p])(%x+)$')
  if not counted[request or ''] then
    local heard = call('HGET', KEYS[3], party)
    local gone = not request or heard and now - heard > (way == 'p' and 5000000 or 120000000)
    local channel = channels .. string.sub(request or '', 1, 32)
    if not gone and way == '-' then
      -- Where we may not ask this, he is taken for present.
      gone = redis.pcall('PUBSUB', 'NUMSUB', channel)[2] == 0
    end
    if gone then
      call('ZREM', KEYS[2], party)
      call('HDEL', KEYS[3], party)
    else
      others[#others + 1] = {request, claim, way, channel, proof}
      counted[request] = true
    end
  end
end
