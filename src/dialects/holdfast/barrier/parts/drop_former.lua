-- Forgets who went on before the last generation; all of them where it is not known.
local last = tonumber(call('HGET', KEYS[5], '=')) or math.huge
local all = call('HGETALL', KEYS[5])
for i = 1, #all, 2 do
  if (tonumber(all[i + 1]) or 0) < last then call('HDEL', KEYS[5], all[i]) end
end
