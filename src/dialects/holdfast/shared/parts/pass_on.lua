-- Gives the lock to those in front of the queue who may have it together, in their order, each
-- with a token of his own. Stops at the first who must wait. Needs `now`, `me`: a request that need
-- not be told and gets his whole `lease`, or nil. Sets `mine` to his token when he is among them,
-- `more` when it gave up looking to keep the script short, and `refusal` as draw does.
local looked, raised, major = 0, false, nil
local mine, more, refusal = nil, false, nil
while true do
  local head = redis.pcall('ZRANGE', KEYS[2], '0', '0')
  local member = head[1]
  if not member then break end
  looked = looked + 1
  if looked > 200 then
    more = true
    break
  end
  local letter = string.match(member, '^[^:]+:(%a)')
  if letter then
    local kind = letter == 's' and 's' or string.find('ncdrpxu', letter, 1, true) and 'm'
    -- They wait for a lock of another kind, which is not ours to give.
    if not kind or family and family ~= kind then break end
    family = kind
  end
  local request, mode, weight, limit, replaced, claim, way, proof = string.match(member,
    '^([^:]+):([ncdrpxus])(%d+)/(%d+):([^:]*):(%d+):([-p])(%x+)$')
  local silent = true
  if request then
    local heard = redis.pcall('HGET', KEYS[3], member)
    if type(heard) ~= 'string' then heard = now end
    -- Or he has it already: this is a second place of his, which gives him nothing.
    silent = now - heard > (way == 'p' and 5000000 or 120000000) or entry_of(request)
  end
  local old = nil
  if not silent and replaced ~= '' then
    old = entry_of(replaced)
    silent = not old
  end
  if not silent then
    weight = weight + 0
    if mode == 's' then limit = redis.pcall('GET', KEYS[5]) or limit end
    local channel = 'hf:c:' .. string.sub(request, 1, 32)
    local told = way == '-' and request ~= me
    if not fits(mode, weight, tonumber(limit) or 0, old) then
      -- He waits for others, and is told when the first of their leases ends if that is new. If he
      -- is gone, those behind him need not wait.
      local listeners = 1
      if told and (looked > 1 or not me) then
        local ends = earliest > now_ms and earliest - now_ms or 60000
        listeners = redis.pcall('PUBLISH', channel, 'next ' .. request .. ' ' .. ends)
      elseif told then
        listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
      end
      if listeners ~= 0 then break end
    else
      if major then
        major, raised = major + 1, true
        text = string.format('%.0f', major)
      else
        major, refusal = draw()
        if refusal then break end
      end
      local listeners = 1
      if told then
        listeners = redis.pcall('PUBLISH', channel, table.concat({'shared', request, text, claim,
          string.format('%.0f', now), proof, KEYS[1]}, ' '))
        -- We may not publish: he keeps his place, if he is there, and will ask.
        if type(listeners) ~= 'number' then
          listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
          if listeners ~= 0 then break end
        end
      end
      if listeners > 0 then
        local lasts = claim
        if request == me then
          mine, lasts = major, lease
        end
        put(request, mode, weight, text, now_ms + lasts, replaced, old)
      end
    end
  end
  -- Where we may not, he would be the first for ever; who asks is told why.
  if type(redis.pcall('ZREM', KEYS[2], member)) ~= 'number' then break end
  redis.pcall('HDEL', KEYS[3], member)
end
if raised then call('SET', KEYS[4], text) end
