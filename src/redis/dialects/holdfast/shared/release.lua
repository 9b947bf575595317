-- Gives back a place among the holders of a lock, to those in front of the queue.
-- KEYS  as in acquire.lua
-- ARGV  1 request id
--       2 the token it was granted: a late copy must not free what it is granted next
-- Returns 1: given back; 0: not ours; 2: given back if it was ours, but so many who waited are gone
-- that finding the next takes another try. The first write is HDEL or DEL: they pass when memory
-- is short, and what follows a write passes too.
local call = redis.call
local asked, restores, named = ARGV[1], false, ARGV[2]
--@include look
do
  -- The usual case, for half the server's time: nobody else holds the lock, and nobody waits.
  local mode, weight, token = string.match(entry or '', '^(%a)(%d+):(%d+):%d+$')
  if there == 1 and token == named and summary then
    --@include sole
    if string.sub(summary, -#sole) == sole then return call('DEL', KEYS[1]) end
  end
end
--@include load
--@include give_back
