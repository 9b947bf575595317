-- Tells who has a lock that is written as Redisson's RLock or RReadWriteLock.
-- KEYS  1 the lock
-- Returns for each who has it {owner, how often he holds it, ms left, or -1 when it never ends by
-- itself, mode}: of a RLock there is one, without a mode; otherwise it is r or x. A reader whose
-- lease has ended is in the way until the others leave: he is told with 0 ms left.
local call = redis.call
--@include timeout_of

-- Of the first holds alone, so that a number that no lock has cannot keep the server busy.
local function lease_of(reader, holds)
  local longest = 0
  for hold = 1, math.min(holds, 100) do
    longest = math.max(longest, call('PTTL', timeout_of(KEYS[1], reader, hold)))
  end
  return longest
end

local held = call('HGETALL', KEYS[1])
local remaining = call('PTTL', KEYS[1])
local has_modes = call('HEXISTS', KEYS[1], 'mode') == 1
local found = {}
for i = 1, #held, 2 do
  local owner, holds = held[i], tonumber(held[i + 1]) or 1
  if not has_modes then
    found[#found + 1] = {owner, holds, remaining}
  elseif owner:sub(-6) == ':write' then
    found[#found + 1] = {owner, holds, remaining, 'x'}
  elseif owner ~= 'mode' then
    found[#found + 1] = {owner, holds, lease_of(owner, holds), 'r'}
  end
end
return found
