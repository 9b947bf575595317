-- Tells the first who waits that he is it, and for how many ms (`claim`) the lock is another's: he
-- asks then at the latest. Who is gone leaves the queue. Needs `me` and `looked` as pass_on does.
while looked < 1000 do
  local member = redis.pcall('ZRANGE', KEYS[2], '0', '0')[1]
  local request, way = string.match(member or '', '^([^:]+):%d+:([-p])$')
  if way ~= '-' or request == me then break end
  local listeners = redis.pcall('PUBLISH', 'hf:c:' .. string.sub(request, 1, 32),
    'next ' .. request .. ' ' .. claim)
  if listeners ~= 0 then break end
  call('ZREM', KEYS[2], member)
  redis.pcall('HDEL', KEYS[3], member)
  looked = looked + 1
end
