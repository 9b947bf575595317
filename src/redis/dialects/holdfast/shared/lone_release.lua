-- Gives back a place among the holders of a lock by the lock's own key alone, while its hash slot
-- is being moved and its keys are at two nodes of a cluster. Who waits is not told: he asks by
-- himself, as when a lease ends.
-- KEYS  1 its holders
-- ARGV  1 request id
--       2 the token it was granted: a late copy must not free what it is granted next
-- Returns 1: given back; 0: not ours. The first write is HDEL or DEL: they pass when memory is
-- short, and what follows a write passes too.
local call = redis.call
local both = call('HMGET', KEYS[1], '=', ARGV[1])
local there, summary, entry = call('EXISTS', KEYS[1]), both[1], both[2]
--@include load
--@include save
local mode, weight, token = string.match(entry or '', '^(%a)(%d+):(%d+):')
if token ~= ARGV[2] then return 0 end
taken_out[1] = ARGV[1]
held[mode] = held[mode] - weight
save()
return 1
