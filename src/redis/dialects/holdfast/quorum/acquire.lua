-- Asks one member of a quorum for its vote.
-- KEYS  1 the lock's value at this member
--       2 the fence counter of its hash slot, for locks of quorums only
--       3 there while this member does not vote, since it may have forgotten whom it voted for
--       4 which master of a Sentinel group has voted last
--       5 who wants to hear that the lock is free: request -> since when he waits, in us
-- ARGV  1 request id, the same at all members
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 floor: the new major is above it
--       5 what a member without a counter does: `tell` it, `join` at once, `enter` to vote when it
--         is asked next, or for how many ms it gives no vote
--       6 at a Sentinel group: for how many ms a new master gives no vote; empty: a single server
-- who waits also gives
--       7 the request id that is told that the lock is free
--       8 for how many us he has waited
-- Returns
--   major > 0            it votes for this request
--   -n <= 0              it has voted for another, for another n ms
--   {"mine", major}      it has voted for this request before: it was asked twice
--   {"new"}              it has no counter: it never voted in this hash slot, or has forgotten it
--   {"out", ms}          it does not vote, for so long
--   {"late", server time}, {"foreign"}, {"persistent"}, {"layout", version},
--   {"skew", server time}, {"counter", content}   as in holdfast/acquire.lua
local call = redis.call
--@include server_time
if now > ARGV[3] + 0 then return {'late', now} end

--@include counter
--@include other_master
if ARGV[5] ~= 'tell' and ARGV[5] ~= 'join' then
  -- Asks for no vote: the request may be over.
  if not last then
    if ARGV[5] ~= 'enter' then call('SET', KEYS[3], '1', 'PX', ARGV[5]) end
    call('SET', KEYS[2], '0')
  end
  return {'out', math.max(call('PTTL', KEYS[3]), 0)}
end

local held = call('GET', KEYS[1])
if held then
  --@include read_value
  if owner == ARGV[1] then return {'mine', major} end
  local remaining = call('PTTL', KEYS[1])
  if remaining < 0 then return {'persistent'} end
  if ARGV[7] then
    call('ZADD', KEYS[5], string.format('%.0f', now - ARGV[8]), ARGV[7])
    call('PEXPIRE', KEYS[5], 60000)
  end
  return -remaining
end

if not last and ARGV[5] == 'tell' then return {'new'} end
local out = call('PTTL', KEYS[3])
if out ~= -2 then return {'out', math.max(out, 0)} end
local floor = ARGV[4] + 0
local major = (last or 0) + 1
if zero == '0' then major = math.max(major, now) end
if major <= floor then
  if floor > now + 86400000000 then return {'skew', now} end
  major = floor + 1
end
if major > 4503599627370496 then return {'counter', string.format('%.0f', major)} end
text = string.format('%.0f', major)
call('SET', KEYS[2], text)
call('SET', KEYS[1], '1:' .. text .. ':' .. ARGV[1], 'PX', ARGV[2])
if ARGV[7] then call('ZREM', KEYS[5], ARGV[7]) end
return major
