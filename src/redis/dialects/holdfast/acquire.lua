-- Asks for a lock.
-- KEYS  1 the lock's value
--       2 its queue: waiter -> ticket
--       3 when each waiter asked last: waiter -> server time in us
--       4 the fence counter of its hash slot
-- ARGV  1 request id
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 floor: the new major is above it
-- who waits also gives
--       5 what stands behind the request id in the queue: `:o<claim in ms>:<way><proof>`, where the
--         way to tell him is `-`, his channel, or `p`, nothing: he polls; and the proof is what a
--         message to him must say to be believed
--       6 his old ticket, or 0
--       7 how many may wait
-- Returns
--   major > 0                   granted, for the lease asked for
--   -n <= 0                     somebody else holds it for another n ms
--   {"queued", place, ms, ticket, server time, new}
--                               the same, and the request waits behind `place` others, or behind
--                               as many as may ask before it, where others should have and have
--                               not; new is 1 where it had no place until now
--   {"mine", major, ms}         this request has been granted before; ms are in force now
--   {"more"}                    so many who waited are gone that finding the next takes another try
--   {"full", limit}             too many wait already
--   {"late", server time}       not-after has passed
--   {"foreign"}                 the key holds no lock of ours, or its queue is one of another kind
--   {"persistent"}              it is our layout, but somebody took its expiry away
--   {"layout", version}         it was written in another version of this layout
--   {"skew", server time}       the floor is further ahead of the server's clock than is believed,
--                               and the counter has not reached it
--   {"counter", content}        the counter is too large to be counted on exactly (2^52)
-- What is refused has changed nothing. Errors of the server (another key's type, out of memory)
-- come as they are, and before anything was changed.
local call = redis.call
--@include server_time
if now > ARGV[3] + 0 then return {'late', now} end

local me = ARGV[1]
local queued, place, ticket, full, new = false, 0, nil, false, 0
if call('EXISTS', KEYS[1], KEYS[2]) > 0 then
  local held = redis.pcall('GET', KEYS[1])
  --@include other_type
  local remaining = 0
  if held then
    --@include read_value
    remaining = call('PTTL', KEYS[1])
    if owner == me then
      remaining = math.max(remaining, ARGV[2] + 0)
      call('PEXPIRE', KEYS[1], remaining)  -- also where it changes nothing: see prolong.lua
      return {'mine', major, remaining}
    end
    if remaining < 0 then return {'persistent'} end
    -- Its owner may keep it although he does not use it: ask for it.
    if string.sub(owner, -1) == 'r' then
      --@include channels
      redis.pcall('PUBLISH', channels .. string.sub(owner, 1, 32), 'wanted ' .. owner)
    end
    if not ARGV[5] then return -remaining end
  elseif not ARGV[5] then
    local first = redis.pcall('ZRANGE', KEYS[2], '0', '0')[1]
    --@include other_queue
  end

  if ARGV[5] then
    local member = me .. ARGV[5]
    ticket = call('ZSCORE', KEYS[2], member)
    if ticket then
      place = call('ZRANK', KEYS[2], member)
    else
      new = 1
      place = call('ZCARD', KEYS[2])
      local last = place > 0 and call('ZRANGE', KEYS[2], '-1', '-1', 'WITHSCORES')
      local first = last and last[1]
      --@include other_queue
      ticket = ARGV[6]
      if ticket == '0' then
        full = place >= ARGV[7] + 0
        -- Of a free lock one of them is about to have it, or all are gone.
        if held and full then return {'full', ARGV[7]} end
        -- A time, for order beyond the life of a queue; but in the queue it only grows.
        ticket = text
        if last and last[2] + 0 >= now then ticket = string.format('%.0f', last[2] + 1) end
      end
    end
    -- Each with its end behind it: where the next one fails, nothing is left for ever.
    call('HSET', KEYS[3], member, text)
    call('PEXPIRE', KEYS[3], '180000')
    if new == 1 then
      call('ZADD', KEYS[2], ticket, member)
      if ARGV[6] ~= '0' then place = call('ZRANK', KEYS[2], member) end
    end
    call('PEXPIRE', KEYS[2], '180000')
    if held then return {'queued', place, remaining, ticket, now, new} end
  end
  queued = true
end

local floor = ARGV[4] + 0
--@include draw_major
local winner, claim, more = nil, nil, false
if queued and not refusal then
  --@include pass_on
  if more then return {'more'} end
  if winner and winner ~= me then
    if not ARGV[5] then return -claim end
    local member = me .. ARGV[5]
    if full and call('ZCARD', KEYS[2]) > ARGV[7] + 0 then
      call('ZREM', KEYS[2], member)
      call('HDEL', KEYS[3], member)
      return {'full', ARGV[7]}
    end
    -- Those before it should have found the lock free, and have not asked: it asks next.
    place = math.min(call('ZRANK', KEYS[2], member) or 0, 1)
    return {'queued', place, claim + 0, ticket, now, new}
  end
end
if queued and ARGV[5] and not winner then
  -- Refused, or granted because we may tell nobody that he has the lock: no place is left behind.
  call('ZREM', KEYS[2], me .. ARGV[5])
  call('HDEL', KEYS[3], me .. ARGV[5])
  if refusal and place == 0 then
    -- The lock is still free, and the one behind us does not know that it is the first.
    local looked, unheard = 0, {}
    claim = 0
    --@include channels
    --@include tell_next
  end
end
if refusal then return refusal end
call('SET', KEYS[1], '1:' .. text .. ':' .. me, 'PX', ARGV[2])
return major
