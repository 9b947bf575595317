-- Whether these waits are a cycle at this moment: each waits still, for a lock that the next one
-- has, and no client is dead. If so, the first of them ends here: of all who have seen the cycle
-- one alone is told 1, also when what wrote his wait down comes once more.
-- KEYS  1 who waits (note.lua)
--       then of each wait the lock that it waits for
-- ARGV  1 the latest not-after with which the first wait was written down
--       then of each wait: the wait, its record, and the request that has what it waits for
-- Returns 1: it is one, 0: it is none (any more).
local call = redis.call
--@include server_time
--@include end_wait
--@include channels
local function has(lock, request)
  local value = redis.pcall('GET', lock)
  if type(value) == 'string' then return string.match(value, '^1:%d+:(.*)$') == request end
  local holder = value and redis.pcall('HGET', lock, request)
  if type(holder) ~= 'string' then return false end
  local stop = string.match(holder, '^%l%d+:%d+:(%d+)')
  return stop and stop * 1000 > now
end
-- A wait is called <client id>-<number>; of one who does not listen to his channel there is a p
-- behind it.
local function is_dead(wait)
  local client = string.match(wait, '^(%x+)%-%d+$')
  return client and call('PUBSUB', 'NUMSUB', channels .. client)[2] == 0
end
for i = 2, #KEYS do
  local at = 3 * (i - 2) + 1
  local known = call('HGET', KEYS[1], ARGV[at + 1])
  local stop, record = string.match(known or '', '^(%d+)\n(.*)$')
  local waits = record == ARGV[at + 2] and stop + 0 > now and not is_dead(ARGV[at + 1])
  if not waits or not has(KEYS[i], ARGV[at + 3]) then return 0 end
end
end_wait(ARGV[2], ARGV[1])
return 1
