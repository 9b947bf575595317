-- Gives the lock to those in the queue who may have it together, in their order, each with a token
-- of its own. Stops at the first that must wait. Needs `now`, and draw's `time_text`; `me`, a
-- request that need not be told and gets its whole `lease`, or nil; and `comes_in`, whether `me`
-- fits what is held. Sets `mine` to the answer for `me` when it is among them, `more` when this
-- gave up looking to keep the script short, `refusal` as draw does, and `grace`: for how many ms
-- the first that must wait may still prove that it lives. `more` and `grace` must be there before.
--
-- A waiter that does not fit keeps others waiting that do, and nobody knows whether it lives: its
-- connection may outlast a process that is frozen. So it is told to ask at once, and when that was
-- stands behind the time at which it asked last: `<us>:<us>`. If it has not asked for as long as a
-- provisional grant lasts, it leaves the queue. Should it live after all, it comes back to its old
-- place, with its ticket. Where it fits before that, its provisional grant ends with that time, so
-- that those behind it wait for one and not for two.
--@include channels
local looked, raised, major = 0, false, nil
local mine, refusal = nil, nil
-- What stands in the queue: request, mode, weight, limit, what it replaces, claim, way, proof.
local function read_waiter(member)
  local request, mode, weight, limit, replaced, claim, way, proof = string.match(member,
    '^([^:]+):([ncdrpxus])(%d+)/(%d+):([^:]*):(%d+):([-p])(%x+)$')
  if not request then return nil end
  if mode == 's' then limit = redis.pcall('GET', KEYS[5]) or limit end
  return request, mode, weight + 0, tonumber(limit) or 0, replaced, claim, way, proof
end
-- Of the few behind the first, one that fits what is held: its request, where it can be told.
local function find_heir()
  for _, member in ipairs(redis.pcall('ZRANGE', KEYS[2], '1', '8')) do
    local request, mode, weight, limit, replaced, _, way = read_waiter(member)
    local old = request and replaced ~= '' and living(replaced) or nil
    local has_all = request and (replaced == '' or old)
    if has_all and fits(mode, weight, limit, old) then return request, way end
  end
end
-- How many ms of its provisional grant a waiter has had already, since it has not proved that it
-- lives, and how many that is in all, without a lock_delay.
local function time_used(claim, way, heard, poked)
  local whole = math.min(claim, way == 'p' and 250 or 1000)
  if way == 'p' then return math.floor((now - heard) / 1000) - 1000 + whole, whole end
  return poked ~= '' and math.floor((now - poked) / 1000) or 0, whole
end
-- Where this stops looking, or can draw no token: the one that asks may have been granted the lock,
-- and then nobody but the first of the queue goes on. Whose client does not listen is gone.
local function tell_first()
  for _ = 1, 30 do
    local member = redis.pcall('ZRANGE', KEYS[2], '0', '0')[1]
    local request, _, _, _, _, _, way = read_waiter(member or '')
    if way ~= '-' or request == me then break end
    local channel = channels .. string.sub(request, 1, 32)
    if redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 20') ~= 0 then break end
    if type(redis.pcall('ZREM', KEYS[2], member)) ~= 'number' then break end
    redis.pcall('HDEL', KEYS[3], member)
  end
end
while true do
  local head = redis.pcall('ZRANGE', KEYS[2], '0', '0')
  local member = head[1]
  if not member then break end
  looked = looked + 1
  if looked > 15 then
    more = true
    tell_first()
    break
  end
  local letter = string.match(member, '^[^:]+:(%a)')
  if letter then
    local kind = letter == 's' and 's' or string.find('ncdrpxu', letter, 1, true) and 'm'
    -- They wait for a lock of another kind, which is not ours to give.
    if not kind or family and family ~= kind then break end
    family = kind
  end
  local request, mode, weight, limit, replaced, claim, way, proof = read_waiter(member)
  local silent, heard, poked = true, nil, nil
  if request then
    heard = redis.pcall('HGET', KEYS[3], member)
    if type(heard) ~= 'string' and way == 'p' then
      -- It was lost, and would be taken for new at each look: it has this time from now on.
      redis.pcall('HSET', KEYS[3], member, time_text)
      redis.pcall('PEXPIRE', KEYS[3], '180000')
    end
    heard, poked = string.match(type(heard) == 'string' and heard or time_text, '^(%d+):?(%d*)$')
    if heard and (poked ~= '' and poked or heard) + 0 > now then
      -- The clock was set back, and whoever is silent is silent from now on.
      heard, poked = math.min(heard, now), poked ~= '' and time_text or ''
      heard = string.format('%.0f', heard)
      redis.pcall('HSET', KEYS[3], member, poked ~= '' and heard .. ':' .. poked or heard)
    end
    -- Or it is a holder already: this is a second place, which gives it nothing.
    silent = not heard or now - heard > (way == 'p' and 5000000 or 120000000) or entry_of(request)
  end
  local old = nil
  if not silent and replaced ~= '' then
    old = living(replaced)
    silent = not old
  end
  if not silent then
    local channel = channels .. string.sub(request, 1, 32)
    local told = way == '-' and request ~= me
    local used, whole = time_used(claim, way, heard, poked)
    if mode == 's' and weight > limit then
      -- There are no longer so many permits. It is told when it asks, and blocks nobody.
      if told then redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 0') end
    elseif sweep and not fits(mode, weight, limit, old) then
      -- What is in its way may have ended, and whoever asks goes on to look. Where nobody listens,
      -- nobody would: it is gone, and the one behind it is told.
      local is_news = told and (looked > 1 or not me)
      if not is_news or redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 20') ~= 0 then
        more = true
        break
      end
    elseif not fits(mode, weight, limit, old) then
      local is_news = told and (looked > 1 or not me)
      if request == me then break end
      local ends = earliest > now_ms and earliest - now_ms or 60000
      local heir, heir_way, left, listeners = comes_in and me, nil, nil, 1
      if not me then heir, heir_way = find_heir() end
      if way == 'p' then
        left = heir and 1000 - math.floor((now - heard) / 1000)
      elseif poked ~= '' then
        left = heir and math.min(claim, 1000) - math.floor((now - poked) / 1000)
        listeners = is_news and redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 0') or
          redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
      elseif heir then
        listeners = redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 0')
        if type(listeners) == 'number' then
          left = math.min(claim, 1000)
          redis.pcall('HSET', KEYS[3], member, heard .. ':' .. time_text)
          redis.pcall('PEXPIRE', KEYS[3], '180000')  -- it may have been lost
        else
          -- We may not publish: those in front ask every 2 s.
          left = 3000 - math.floor((now - heard) / 1000)
        end
      elseif is_news then
        -- It is told when the first lease of those in its way ends, since that may be new.
        listeners = redis.pcall('PUBLISH', channel, 'next ' .. request .. ' ' .. ends)
      else
        listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
      end
      if listeners ~= 0 and not (left and left <= 0) then
        grace = left or nil
        if heir_way == '-' then
          redis.pcall('PUBLISH', channels .. string.sub(heir, 1, 32),
            'next ' .. heir .. ' ' .. math.min(left, ends))
        end
        break
      end
    elseif used > 0 and used >= whole and (comes_in or find_heir()) then
      -- It has had its time, and somebody behind it has waited for that.
    else
      if used > 0 and used < whole then claim = claim - used end
      if major then
        major, raised = major + 1, true
        text = string.format('%.0f', major)
      else
        major, refusal = draw()
        if refusal then
          -- Whoever asks is told why not, and tells the first. Otherwise the first may not know
          -- that it is; and its own floor may be one above which there are tokens.
          if looked > 1 and not me then tell_first() end
          break
        end
      end
      local listeners = 1
      if told then
        local message = table.concat({'shared', request, text, claim, time_text, proof, KEYS[1]},
          ' ')
        --@include tell_grant
        -- We may not publish: it keeps its place, if it is there, and will ask.
        if type(listeners) ~= 'number' then
          listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
          if listeners ~= 0 then break end
        end
      end
      if listeners > 0 then
        local lasts = request == me and lease or claim
        local until_ms = put(request, mode, weight, text, now_ms + lasts, replaced, old)
        if request == me then mine = old and {'mine', text, until_ms - now_ms} or major end
      end
    end
  end
  -- Where we may not, it would be the first for ever; the one that asks is told why.
  if type(redis.pcall('ZREM', KEYS[2], member)) ~= 'number' then break end
  redis.pcall('HDEL', KEYS[3], member)
end
if raised then
  call('SET', KEYS[4], major > now and text .. ' ' .. time_text or text)
end
