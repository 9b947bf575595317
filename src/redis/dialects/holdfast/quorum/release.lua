-- Takes a vote back, and tells the one who has waited longest that the lock is free.
-- KEYS  1 the lock's value at this member
--       2 the fence counter of its hash slot, for locks of quorums only
--       3 who wants to hear that the lock is free: request -> since when he waits, in us
-- ARGV  1 request id
--       2 the major that was chosen, or 0
--       3 the request id that was to be told, which wants to hear nothing any more; empty: nobody
-- Returns 1: taken back; 0: it was not there. The first write is DEL: it passes when memory is
-- short, and what follows a write passes too.
local call = redis.call
local held = call('GET', KEYS[1])
local was_ours = string.match(held or '', '^1:%d+:(.+)$') == ARGV[1]
if was_ours then call('DEL', KEYS[1]) end
--@include counter
-- Above the token, so that a late copy of keep.lua cannot vote again for what was released.
if last and ARGV[2] ~= '0' and last <= ARGV[2] + 0 then
  redis.pcall('SET', KEYS[2], zero .. string.format('%.0f', ARGV[2] + 1))
end
if ARGV[3] ~= '' then redis.pcall('ZREM', KEYS[3], ARGV[3]) end
if held and not was_ours then return 0 end
--@include tell_first
return was_ours and 1 or 0
