-- Writes down who of a client waits for what, and tells a part of who waits at all.
-- KEYS  1 who waits, of all clients: wait -> `<until, server time in us>` and the record, in lines
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       2 for how long a record counts unless it is written again, in ms
--       3 where to read on, as HSCAN told it: 0 is the beginning; empty: nothing is asked
--       4 how many waits have ended, and then which, each followed by the latest not-after with
--         which it was written down
--       then the waits, each followed by its record
-- Returns where to read on, and wait, record, wait, record...: those of this part that count. The
-- parts that lie between two beginnings have each wait that stood there all the time.
--   {"late", server time in us}  it came later than not-after, or that is 2^53
local call = redis.call
--@include server_time
local not_after = ARGV[1] + 0
--@include only_in_time
--@include end_wait
local waits = 5 + 2 * ARGV[4]
for i = 5, waits - 1, 2 do
  end_wait(ARGV[i], ARGV[i + 1])
end
local function record_in(known)
  local stop, record = string.match(known or '', '^(%d+)\n(.*)$')
  if stop and stop + 0 >= now then return record end
end
for i = waits, #ARGV, 2 do
  -- Of one that has ended this is a late copy.
  if record_in(call('HGET', KEYS[1], ARGV[i])) ~= '' then
    call('HSET', KEYS[1], ARGV[i], string.format('%.0f\n', now + ARGV[2] * 1000) .. ARGV[i + 1])
  end
end
if #ARGV >= waits then prolong(KEYS[1], ARGV[2]) end
if ARGV[3] == '' then return {'0'} end
-- The whole would cost each client as much as all others together have written.
local part = call('HSCAN', KEYS[1], ARGV[3], 'COUNT', '100')
local known, told = part[2], {part[1]}
for i = 1, #known, 2 do
  local record = record_in(known[i + 1])
  if not record then
    call('HDEL', KEYS[1], known[i])
  elseif record ~= '' then
    told[#told + 1] = known[i]
    told[#told + 1] = record
  end
end
return told
