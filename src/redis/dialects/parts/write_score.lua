-- Also a score that stood there before is written: WAIT counts the replicas that have what its
-- connection wrote, and where a renewal wrote nothing, a replica that is long gone has it all.
local function write_score(key, score, member)
  call('ZADD', key, 'XX', score + 1, member)
  call('ZADD', key, 'XX', score, member)
end
