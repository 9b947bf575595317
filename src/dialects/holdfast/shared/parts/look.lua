-- Sets `there`, how many of the lock and its queue exist, `summary`, what stands in the lock for
-- all, and `entry`, that of the request `asked`.
local there, summary, entry = call('EXISTS', KEYS[1], KEYS[2]), nil, nil
if there > 0 then
  local both = call('HMGET', KEYS[1], '=', asked)
  summary, entry = both[1], both[2]
end
