-- Sets `there`, how many of the lock and its queue exist, `summary`, what stands in the lock for
-- all, and `entry`, that of the request `asked`. A key of another type ends the script.
local there, summary, entry = call('EXISTS', KEYS[1], KEYS[2]), nil, nil
if there > 0 then
  local held = redis.pcall('HMGET', KEYS[1], '=', asked)
  --@include other_type
  summary, entry = held[1], held[2]
end
