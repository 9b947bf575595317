-- Gives the lock to the first of the queue who is there. Needs `now`, `text`, and `me`: a request
-- that need not be told, or nil. Sets `winner` to the request that has the lock now (nil: nobody is
-- left, or what stands at the queue's keys is no queue of ours), its `claim`, and `more` when it
-- gave up looking, to keep the script short: then nothing is decided yet. All three must be there
-- before.
-- Who is gone: nobody listens to his channel, or he has not asked for twice the longest time that a
-- waiter may stay silent. PUBLISH comes before SET, so that the lock's value stays until then.
--@include channels
local looked, unheard = 0, {}
while not winner do
  local head = redis.pcall('ZPOPMIN', KEYS[2])
  local member = head[1]
  if not member then break end
  looked = looked + 1
  if looked > 200 then
    call('ZADD', KEYS[2], head[2], member)
    call('PEXPIRE', KEYS[2], '180000')
    more = true
    break
  end
  local request, wanted, way, proof = string.match(member, '^([^:]+):o(%d+):([-p])(%x+)$')
  if not request and string.find(member, '^[^:]+:[^%Ao]') then
    -- They wait for a lock of another kind, which is not ours to give.
    call('ZADD', KEYS[2], head[2], member)
    call('PEXPIRE', KEYS[2], '180000')
    break
  end
  local heard = redis.pcall('HGET', KEYS[3], member)
  if type(heard) ~= 'string' then heard = now end
  redis.pcall('HDEL', KEYS[3], member)
  local silence = way == 'p' and 5000000 or 120000000
  if request and now - heard <= silence then
    -- First him who is next, since the server writes last what was published first.
    claim = wanted
    --@include tell_next
    local listeners = 1
    if way == '-' and request ~= me then
      local channel = channels .. string.sub(request, 1, 32)
      local message = table.concat({'grant', request, text, wanted, string.format('%.0f', now),
        proof, KEYS[1]}, ' ')
      --@include tell_grant
      if type(listeners) ~= 'number' then
        -- We may not publish: he keeps his place and will ask.
        call('ZADD', KEYS[2], head[2], member)
        redis.pcall('HSET', KEYS[3], member, heard)
        for i = 2, 3 do redis.pcall('PEXPIRE', KEYS[i], '180000') end  -- it may have been the last
        break
      end
    end
    if listeners > 0 then winner = request end
  end
end
if winner and winner ~= me then
  call('SET', KEYS[1], '1:' .. text .. ':' .. winner, 'PX', claim)
end
