--@include timeout_of

-- Lets a reader of ours keep his lock for `lease` ms at least; the hash had `remaining` ms before,
-- as PTTL says it. Tells how many ms are his now.
local function keep_reader(key, reader, lease, remaining)
  local timeout = timeout_of(key, reader, 1)
  local his = math.max(call('PTTL', timeout), lease + 0)
  -- It passes when memory is short, and what follows a write passes too.
  if call('PEXPIRE', timeout, his) == 0 then call('SET', timeout, 1, 'PX', his) end
  if remaining ~= -1 and remaining < his then call('PEXPIRE', key, his) end
  return his
end
