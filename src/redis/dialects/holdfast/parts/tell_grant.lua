-- Tells `request` on its `channel` by `message` that it has the lock; sets `listeners`, how many
-- heard it. Replicas repeat what their master says to those who listen there, as at a master that
-- has just become a replica, and nobody counts these: the next request has the lock then, with
-- the same token, and they must not believe it. So replicas are not sent the grant, but that it is
-- worth asking.
redis.set_repl(redis.REPL_NONE)
listeners = redis.pcall('PUBLISH', channel, message)
redis.set_repl(redis.REPL_ALL)
if listeners == 0 then redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 20') end
