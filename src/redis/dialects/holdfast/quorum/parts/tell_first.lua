-- Only a hint, and he has to ask: who is told leaves, since he comes back when he asks in vain. Who
-- has no connection any more is left out: a hundred of them at most, so that the server is not kept
-- long. The next release goes on from there, and waiters ask now and then in any case.
--@include channels
for _ = 1, 100 do
  local first = redis.pcall('ZRANGE', KEYS[3], 0, 0)[1]
  if not first then break end
  call('ZREM', KEYS[3], first)
  local listeners = redis.pcall('PUBLISH', channels .. string.sub(first, 1, 32), 'free ' .. first)
  if listeners ~= 0 then break end
end
