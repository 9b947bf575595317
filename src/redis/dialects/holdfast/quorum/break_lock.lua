-- Takes a member's vote away from whoever has it, and tells the one who has waited longest. For
-- operators, who do so at every member.
-- KEYS  1 the lock's value at this member
--       2 the fence counter of its hash slot, for locks of quorums only
--       3 who wants to hear that the lock is free
-- ARGV  1 the largest major among the votes of all members, or 0
--       2 not-after: refused when the server's time in us is later than this
-- Returns as holdfast/break_lock.lua: {"broken", value}, {"free"}, {"foreign"},
-- {"layout", version}, {"late", now}
local call = redis.call
--@include server_time
local not_after = ARGV[2] + 0
--@include only_in_time
local held = call('GET', KEYS[1])
local major = string.match(held or '', '^1:(%d+):.+$')
if held and not major then
  local version = string.match(held, '^(%d%d?%d?):')
  if version and version ~= '1' then return {'layout', version} end
  return {'foreign'}
end
if held then call('DEL', KEYS[1]) end
--@include counter
-- Above the token, so that no renewal of who had it is given a vote again, here or where it had
-- none.
local token = math.max(ARGV[1] + 0, major and major + 0 or 0)
if token > 0 and last and last <= token and token < 4503599627370496 then
  redis.pcall('SET', KEYS[2], zero .. string.format('%.0f', token + 1))
end
if not held then return {'free'} end
--@include tell_first
return {'broken', held}
