-- The key lives for as long as each client of redis-semaphore sets it to.
local function live_on(key, timeout)
  if call('PTTL', key) < timeout then call('PEXPIRE', key, timeout) end
end
