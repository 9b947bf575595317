-- The key lives as long as the longest lease in it.
local function lives_as_long(key)
  local last = call('ZREVRANGE', key, 0, 0, 'WITHSCORES')[2]
  if last then call('PEXPIREAT', key, string.format('%.0f', last)) end
end
