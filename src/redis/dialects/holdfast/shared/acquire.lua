-- Asks for a lock that several may hold: in modes that go together, or so many permits of it.
-- KEYS  1 its holders: request id -> mode and weight, token, end of the lease in ms, and what he
--         was before (request id, mode and weight, token) if he changed that; `=` -> summary
--       2 its queue: waiter -> ticket
--       3 when each waiter asked last: waiter -> server time in us
--       4 the fence counter of its hash slot
--       5 how many permits there are, where an operator has said it
-- ARGV  1 request id
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 floor: the new major is above it
--       5 mode: one of n c d r p x u (see parts/fits.lua), or s: permits
--       6 weight: how many permits; of a mode 1
--       7 how many permits there are, unless KEYS[5] says it; of a mode 0
--       8 the request whose place among the holders this one takes when it is granted, or nothing
-- who waits also gives
--       9 what stands behind the request id in the queue: `:<mode><weight>/<limit>:<replaced>:
--         <claim in ms>:<way><proof>`, where the way and the proof are those of acquire.lua
--      10 his old ticket, or 0
--      11 how many may wait
-- Returns what acquire.lua of the plain lock returns, and
--   {"gone"}              the request to be replaced does not hold the lock (any more)
--   {"never", limit}      there are not so many permits
--   {"full", "100"}       so many others wait to change what they hold, and no more may
--   {"deadlock"}          another holder waits to change his mode until we give up ours
--   {"family", m or s}    the lock is one of modes, or of permits, and asked for as the other
local call = redis.call
--@include server_time
if now > ARGV[3] + 0 then return {'late', now} end

local me, lease, floor = ARGV[1], ARGV[2] + 0, ARGV[4] + 0
local mode, weight, limit, replaced = ARGV[5], ARGV[6] + 0, ARGV[7], ARGV[8]
local asked_family, asked = mode == 's' and 's' or 'm', me
local now_ms = math.floor(now / 1000)
--@include look
--@include alone
--@include load
--@include save
if family and family ~= asked_family then return {'family', family} end
--@include whose_queue
if whose and whose ~= asked_family then
  return string.find(whose, '[ms]') and {'family', whose} or {'foreign'}
end
--@include fits
--@include put
--@include draw
if entry and not living(me) then
  local ended, size = string.match(entry, '^(%a)(%d+):')
  take_out(me, ended, size)
elseif entry then
  local who, until_ms, before = string.match(entry, '^(%a%d+:%d+:)(%d+)(.*)$')
  until_ms = math.max(until_ms + 0, now_ms + lease)
  put_in = {me, who .. string.format('%.0f', until_ms) .. before}
  if until_ms > latest then latest = until_ms end
  -- Passes when memory is short; also where it changes nothing: see prolong.lua.
  call('PEXPIREAT', KEYS[1], string.format('%.0f', latest))
  save()
  return {'mine', string.match(who, ':(%d+):'), until_ms - now_ms}
end
--@include purge
local old = nil
if replaced ~= '' then
  old = living(replaced)
  if not old then return {'gone'} end
end
if mode == 's' then
  limit = call('GET', KEYS[5]) or limit
  if weight > (tonumber(limit) or 0) then return {'never', limit} end
end

-- Who wants less than he has takes nothing from those who wait: a mode against which are no others.
local had = old and against[string.sub(old, 1, 1)]
local less = had and against[mode] and not string.find(against[mode], '[^ ' .. had .. ']')

local waits, major = ARGV[9], nil
if (not waiting or mode == 'n' or old and (less or not waits)) and
    fits(mode, weight, limit, old) then
  local refusal
  major, refusal = draw()
  if refusal then return refusal end
  -- What it had may last longer than what it asks for, and the server shortens nothing.
  local drawn = text
  local until_ms = put(me, mode, weight, text, now_ms + lease, replaced, old)
  if old then major = {'mine', drawn, until_ms - now_ms} end
  waits = nil
end

local member, ticket, full, new = nil, nil, false, 0
if waits then
  member = me .. waits
  ticket = call('ZSCORE', KEYS[2], member)
  if not ticket then
    new = 1
    ticket = ARGV[10] + 0
    if ticket == 0 then
      -- Not before those who are gone have been dropped; and who changes what he has goes before
      -- all who are counted.
      full = not old and call('ZCARD', KEYS[2]) >= ARGV[11] + 0
      ticket = now
      local last = call('ZRANGE', KEYS[2], '-1', '-1', 'WITHSCORES')[2]
      if last and last + 0 >= now then ticket = last + 1 end
    end
    -- Who wants another mode of what he has goes before all who have nothing yet. If of two who do
    -- so the one in front waits for the other, neither could ever go on; he may have come back to
    -- an old place, so it may be us.
    if old then
      if ticket > 0 then ticket = ticket - 4503599627370496 end
      local changing = call('ZRANGEBYSCORE', KEYS[2], '-inf', 0, 'WITHSCORES', 'LIMIT', 0, 100)
      if #changing == 200 and ARGV[10] == '0' then return {'full', '100'} end
      for i = 1, #changing, 2 do
        local wanted, whose = string.match(changing[i], '^[^:]+:(%a)%d+/%d+:([^:]*):')
        local has = whose and living(whose)
        local behind, theirs = old, changing[i + 1] + 0
        -- Were two tickets the same, names would say who is in front.
        if theirs == ticket or theirs > ticket and ARGV[10] == '0' then ticket = theirs + 1 end
        if theirs > ticket then wanted, behind = mode, has end
        -- Not who has lost what he wanted to change, nor an attempt of our own that was given up a
        -- moment ago.
        if has and whose ~= replaced and
            string.find(against[wanted] or '', string.sub(behind, 1, 1), 1, true) then
          return {'deadlock'}
        end
      end
    end
  end
  ticket = ticket + 0
  -- Each with its end behind it: where the next one fails, nothing is left for ever.
  call('HSET', KEYS[3], member, time_text)
  call('PEXPIRE', KEYS[3], '180000')
  if new == 1 then call('ZADD', KEYS[2], string.format('%.0f', ticket), member) end
  call('PEXPIRE', KEYS[2], '180000')
  waiting = true
end

local granted, more, grace, overdue = major, false, nil, false
local comes_in = not granted and fits(mode, weight, limit, old)
if waiting then
  --@include pass_on
  granted = granted or mine
  if not granted and refusal then
    -- Those in front may have left the queue, as we do: who is the first now may not know it.
    local leaves = member
    repeat
      if leaves then
        call('ZREM', KEYS[2], leaves)
        call('HDEL', KEYS[3], leaves)
      end
      leaves = looked < 30 and call('ZRANGE', KEYS[2], '0', '0')[1]
      looked = looked + 1
      local request, _, _, _, _, _, way = read_waiter(leaves or '')
    until way ~= '-' or redis.pcall('PUBLISH', channels .. string.sub(request, 1, 32),
      'next ' .. request .. ' 0') ~= 0
    return refusal
  end
else
  more = not granted and sweep
end
save()
if granted then return granted end
if more then return {'more'} end
local remaining = earliest > now_ms and earliest - now_ms or 60000
if member and grace and grace < remaining then remaining = grace end
if not member then
  -- Those who were in front of us are gone, or have been let in.
  if waiting and call('EXISTS', KEYS[2]) == 0 and fits(mode, weight, limit, old) then
    return {'more'}
  end
  return -remaining
end
if full and call('ZCARD', KEYS[2]) > ARGV[11] + 0 then
  call('ZREM', KEYS[2], member)
  call('HDEL', KEYS[3], member)
  return {'full', ARGV[11]}
end
if ticket < 0 then ticket = ticket + 4503599627370496 end
local place = call('ZRANK', KEYS[2], member) or 0
-- It need not leave those before it time to ask, but for the first.
if overdue then place = math.min(place, 1) end
return {'queued', place, remaining, string.format('%.0f', ticket), now, new}
