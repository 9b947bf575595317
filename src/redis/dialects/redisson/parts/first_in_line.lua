-- Drops those in front of the queue of a RFairLock whose time is over, as Redisson's scripts do,
-- and those who have none; of the others no time is changed. Tells who is the first then, or false.
-- A thousand at most: who finds more finds the rest the next time.
local function first_in_line(queue, timeouts, now_ms)
  local first = call('LINDEX', queue, 0)
  for _ = 1, 1000 do
    local until_ms = first and call('ZSCORE', timeouts, first)
    if not first or until_ms and until_ms + 0 > now_ms then break end
    call('LPOP', queue)
    call('ZREM', timeouts, first)
    first = call('LINDEX', queue, 0)
  end
  return first
end
