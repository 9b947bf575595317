-- Writes down who of a client waits for what, and tells who waits at all.
-- KEYS  1 who waits, of all clients: wait -> `<until, server time in us>` and the record, in lines
-- ARGV  1 for how long a record counts unless it is written again, in ms
--       2 how many waits have ended, and then which
--       then the waits, each followed by its record
-- Returns wait, record, wait, record...: all that count. Nothing when no wait was given.
local call = redis.call
--@include server_time
local ended = ARGV[2] + 0
for i = 3, 2 + ended do
  call('HDEL', KEYS[1], ARGV[i])
end
local all = {}
if #ARGV == 2 + ended then return all end
for i = 3 + ended, #ARGV, 2 do
  call('HSET', KEYS[1], ARGV[i], string.format('%.0f\n', now + ARGV[1] * 1000) .. ARGV[i + 1])
end
call('PEXPIRE', KEYS[1], ARGV[1])
local known = call('HGETALL', KEYS[1])
for i = 1, #known, 2 do
  local stop, record = string.match(known[i + 1], '^(%d+)\n(.*)$')
  if stop and stop + 0 > now then
    all[#all + 1] = known[i]
    all[#all + 1] = record
  else
    call('HDEL', KEYS[1], known[i])
  end
end
return all
