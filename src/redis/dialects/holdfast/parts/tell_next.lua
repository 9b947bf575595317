-- Tells the first who waits that he is it, and for how many ms (`claim`) the lock is another's: he
-- asks then at the latest. Who is gone leaves the queue, after the first of them a hundred at a
-- time. Needs `channels`, `me` and `looked` as pass_on does, and `unheard`, the clients to whose
-- channel nobody listens: many requests of one that died may wait.
local last, gone, front = '0', nil, nil
repeat
  front, gone = redis.pcall('ZRANGE', KEYS[2], '0', last), {}
  for i = 1, #front do
    local request, way = string.match(front[i], '^([^:]+):o%d+:([-p])%x+$')
    if way ~= '-' or request == me or looked == 200 then break end
    local client = string.sub(request, 1, 32)
    if not unheard[client] then
      local listeners = redis.pcall('PUBLISH', channels .. client,
        'next ' .. request .. ' ' .. claim)
      if listeners ~= 0 then break end
      unheard[client] = true
    end
    gone[i] = front[i]
    looked = looked + 1
  end
  if #gone > 0 then
    call('ZREM', KEYS[2], unpack(gone))
    redis.pcall('HDEL', KEYS[3], unpack(gone))
    last = '99'
  end
until #gone == 0 or #gone < #front
