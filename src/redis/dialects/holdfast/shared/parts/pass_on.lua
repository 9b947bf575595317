-- Gives the lock to those in the queue who may have it together, in their order, each with a token
-- of its own. Stops at the first that must wait. Needs `now`, and draw's `time_text`; `me`, a
-- request that need not be told and gets its whole `lease`, or nil; and `comes_in`, whether `me`
-- fits what is held. Sets `mine` to the answer for `me` when it is among them, `more` when this
-- gave up looking to keep the script short, `refusal` as draw does, `grace`: for how many ms the
-- first that must wait may still prove that it lives, and `overdue`: those in front of `me` should
-- have asked before it. `more`, `grace` and `overdue` must be there before.
--
-- A waiter that does not fit keeps others waiting that do, and nobody knows whether it lives: its
-- connection may outlast a process that is frozen. So it is told to ask at once, and when that was
-- stands behind the time at which it asked last: `<us>:<us>`. If it has not asked for as long as a
-- provisional grant lasts, it leaves the queue. Should it live after all, it comes back to its old
-- place, with its ticket. Where it fits before that, its provisional grant ends with that time, so
-- that those behind it wait for one and not for two.
--
-- Waiters that could pass may be frozen as well, so each of the first 20 that fits is told when to
-- ask. And waiters of one process freeze together: where one has been silent for too long, all of
-- the first 20 must prove at once that they live.
--@include channels
local looked, raised, major = 0, false, nil
local mine, refusal = nil, nil
local heirs = nil  -- of the first, until somebody comes in
-- What stands in the queue: request, mode, weight, limit, what it replaces, claim, way, proof.
local function read_waiter(member)
  local request, mode, weight, limit, replaced, claim, way, proof = string.match(member,
    '^([^:]+):([ncdrpxus])(%d+)/(%d+):([^:]*):(%d+):([-p])(%x+)$')
  if not request then return nil end
  if mode == 's' then limit = redis.pcall('GET', KEYS[5]) or limit end
  return request, mode, weight + 0, tonumber(limit) or 0, replaced, claim, way, proof
end
-- Asks a waiter to prove that it lives. Returns how many heard it; no number: we may not publish.
local function ask_for_proof(member, request, heard)
  local channel = channels .. string.sub(request, 1, 32)
  local listeners = redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 0')
  if type(listeners) == 'number' then
    redis.pcall('HSET', KEYS[3], member, heard .. ':' .. time_text)
    redis.pcall('PEXPIRE', KEYS[3], '180000')  -- it may have been lost
  end
  return listeners
end
-- Of the few behind the first, the requests that fit what is held; '' stands for a poller. Those
-- that do not fit are asked for a proof where some are overdue.
local function find_heirs()
  local found = {}
  for _, member in ipairs(redis.pcall('ZRANGE', KEYS[2], '1', '19')) do
    local request, mode, weight, limit, replaced, _, way = read_waiter(member)
    local old = request and replaced ~= '' and living(replaced) or nil
    local has_all = request and (replaced == '' or old)
    if has_all and fits(mode, weight, limit, old) then
      found[#found + 1] = way == '-' and request or ''
    elseif overdue and way == '-' and request ~= me then
      local heard = redis.pcall('HGET', KEYS[3], member)
      if type(heard) == 'string' and not string.find(heard, ':', 1, true) then
        ask_for_proof(member, request, heard)
      end
    end
  end
  return found
end
-- Whether somebody behind the first could come in past it. Who stands further back than this looks
-- perhaps could: it asks by itself before as many seconds have passed.
local function is_waited_for()
  return comes_in or call('ZCARD', KEYS[2]) > 20 or #find_heirs() > 0
end
-- How many ms of its provisional grant a waiter has had already, since it has not proved that it
-- lives, how many that is in all, without a lock_delay, and whether that time is spent. It is after
-- nine tenths: a waiter that lives, and missed the message, could hardly confirm a grant in the
-- rest.
local function time_used(claim, way, heard, poked)
  local whole = math.min(claim, way == 'p' and 250 or 1000)
  local used = 0
  if way == 'p' then
    used = math.floor((now - heard) / 1000) - 1000 + whole
  elseif poked ~= '' then
    used = math.floor((now - poked) / 1000)
  end
  return used, whole, used > 0 and used >= 0.9 * whole
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
    local used, whole, is_spent = time_used(claim, way, heard, poked)
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
    elseif is_spent and is_waited_for() then
      overdue, heirs = true, nil  -- it has had its time
    elseif not fits(mode, weight, limit, old) then
      local is_news = told and (looked > 1 or not me)
      if request == me then break end
      local ends = earliest > now_ms and earliest - now_ms or 60000
      local left, listeners = nil, 1
      heirs = heirs or (not me or overdue) and find_heirs() or {}
      local must_prove = comes_in or not me and (#heirs > 0 or call('ZCARD', KEYS[2]) > 20)
      if way == 'p' then
        left = must_prove and whole - used
      elseif poked ~= '' then
        left = must_prove and whole - used
        listeners = is_news and redis.pcall('PUBLISH', channel, 'next ' .. request .. ' 0') or
          redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
      elseif must_prove then
        listeners = ask_for_proof(member, request, heard)
        left = math.min(claim, 1000)
        -- We may not publish: those in front ask every 2 s.
        if type(listeners) ~= 'number' then left = 3000 - math.floor((now - heard) / 1000) end
      elseif is_news then
        -- It is told when the first lease of those in its way ends, since that may be new.
        listeners = redis.pcall('PUBLISH', channel, 'next ' .. request .. ' ' .. ends)
      else
        listeners = redis.pcall('PUBSUB', 'NUMSUB', channel)[2]
      end
      if listeners ~= 0 and not (left and left <= 0) then
        grace = left or nil
        for i, heir in ipairs(left and not me and heirs or {}) do
          if heir ~= '' then
            redis.pcall('PUBLISH', channels .. string.sub(heir, 1, 32),
              'next ' .. heir .. ' ' .. math.min(left + 20 * (i - 1), ends))
          end
        end
        break
      end
    else
      if used > 0 and not is_spent then claim = claim - used end
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
        heirs = nil
        overdue = overdue or told and comes_in
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
