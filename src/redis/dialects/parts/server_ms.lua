-- server_ms(): the server's time in ms.
local function server_ms()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
