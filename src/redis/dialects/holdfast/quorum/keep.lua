-- Prolongs a member's vote, and tells it the token that was chosen.
-- KEYS  1 the lock's value at this member
--       2 the fence counter of its hash slot, for locks of quorums only
--       3 there while this member does not vote, since it may have forgotten whom it voted for
--       4 which master of a Sentinel group has voted last
-- ARGV  1 request id
--       2 lease in ms
--       3 not-after: refused when the server's time in us is later than this
--       4 the major that was chosen
--       5 what a member without this vote does: `refuse`, or vote again, where it has voted for
--         nobody else since: then the number of ms for which one without a counter stays out; 0: it
--         is left as it is, since it may be about to be invited into a new hash slot
--       6 at a Sentinel group: for how many ms a new master stays out; empty: a single server
-- Returns
--   ms > 0                 in force now; never shortened
--   0                      it has voted for another, or may have: a member that stays out cannot
--                          know that, so it votes for nobody, and trusts no vote that it finds
--   {"late", server time}  not-after has passed
-- Whatever it returns, but for the last, its counter has reached the token if the vote is ours.
local call = redis.call
--@include server_time
if now > ARGV[3] + 0 then return {'late', now} end

--@include counter
--@include other_master
local held = call('GET', KEYS[1])
local major, owner = string.match(held or '', '^1:(%d+):(.+)$')
if held and owner ~= ARGV[1] or not held and ARGV[5] == 'refuse' then return 0 end
local token, lease = ARGV[4] + 0, ARGV[2] + 0
if not held and last and last > token then return 0 end
if not last then
  if ARGV[5] == 'refuse' or ARGV[5] == '0' then return 0 end
  call('SET', KEYS[3], '1', 'PX', ARGV[5])
end
if not last or last < token then call('SET', KEYS[2], zero .. ARGV[4]) end
if call('PTTL', KEYS[3]) ~= -2 then return 0 end
if held then lease = math.max(lease, call('PTTL', KEYS[1])) end
if major == ARGV[4] then
  -- Passes when memory is short; also where it changes nothing: see prolong.lua.
  call('PEXPIRE', KEYS[1], lease)
else
  call('SET', KEYS[1], '1:' .. ARGV[4] .. ':' .. ARGV[1], 'PX', lease)
end
return lease
