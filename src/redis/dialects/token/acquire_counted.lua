-- Asks for a lock that is one text at one key, and draws a token beside it.
-- KEYS  1 the lock
--       2 the fence counter of its hash slot: Holdfast's, of which the layout knows nothing
-- ARGV  1 to 4 as in acquire.lua
--       5 floor: the token is above it
-- Returns
--   token > 0            granted, for the lease asked for
--   {"mine", token, ms}  an earlier copy of this request was granted; ms are in force now
--   {"skew", server time}, {"counter", content}
--                        no token can be drawn, as in holdfast/acquire.lua; nothing was changed
--   the others as acquire.lua
-- A copy draws a token of its own: that of the first is not kept, and both are above those of all
-- who had the lock before, and below those of all who have it later.
local call = redis.call
local not_after = ARGV[3]
--@include refuse_late
local held = call('GET', KEYS[1])
local mine = held == ARGV[1] and ARGV[4] == 'again'
local remaining, token = call('PTTL', KEYS[1]), nil
if mine or not held then
  local last, floor = call('GET', KEYS[2]), ARGV[5] + 0
  --@include count_on
  if least > last_major then return {'counter', string.sub(last, 1, 40)} end
  if floor >= now + lead and (not shown or shown < floor) then return {'skew', now} end
  token = math.max(now, floor + 1, least)
  call('SET', KEYS[2], string.format(token > now and '%.0f %.0f' or '%.0f', token, now))
  if not held then
    call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
    return token
  end
end
--@include taken
