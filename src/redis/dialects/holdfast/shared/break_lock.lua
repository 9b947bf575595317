-- Takes a lock away from all who hold it; it goes to those in front of the queue. For operators.
-- KEYS  as in acquire.lua
-- ARGV  1 not-after: refused when the server's time in us is later than this
-- Returns {"broken", count, {request, entry, ...}}: who held it, of many a part; {"free"},
-- {"foreign"}, {"layout", version}, {"late", now}.
local call = redis.call
--@include server_time
local not_after = ARGV[1] + 0
--@include only_in_time
local asked = ''
--@include look
--@include load
--@include save
local now_ms = math.floor(now / 1000)
if not summary then return {'free'} end
-- Of many holders a part is enough: the counter is above all their tokens, unless it was lost.
local count, broken, floor = call('HLEN', KEYS[1]) - 1, {}, 0
if call('HGET', KEYS[1], '>') then count = count - 1 end
local entries = count <= 100 and call('HGETALL', KEYS[1]) or
  call('HSCAN', KEYS[1], '0', 'COUNT', '100')[2]
for i = 1, #entries, 2 do
  local token = string.match(entries[i + 1], '^%a%d+:(%d+):%d+')
  if token then
    broken[#broken + 1] = entries[i]
    broken[#broken + 1] = entries[i + 1]
    if token + 0 > floor then floor = token + 0 end
  end
end
call('UNLINK', KEYS[1])
for mode in pairs(held) do held[mode] = 0 end
summary, sweep, earliest, latest = nil, nil, 0, 0
local me, lease, comes_in = nil, nil, false
local more, grace, overdue = false, nil, false
--@include fits
--@include put
--@include draw
-- All tokens to come are above those that were looked at, also if the counter was lost meanwhile.
draw()
if waiting then
  --@include pass_on
end
save()
return {'broken', count, broken}
