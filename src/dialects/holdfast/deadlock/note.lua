-- Writes down who of a client waits for what, and tells who waits at all.
-- KEYS  1 who waits, of all clients: wait -> `<until, server time in us>` and the record, in lines
-- ARGV  1 not-after: refused when the server's time in us is later than this
--       2 for how long a record counts unless it is written again, in ms
--       3 how many waits have ended, and then which, each followed by the latest not-after with
--         which it was written down
--       then the waits, each followed by its record
-- Returns wait, record, wait, record...: all that count. Nothing when no wait was given.
--   {"late", server time in us}  it came later than not-after, or that is 2^53
local call = redis.call
--@include server_time
local not_after = ARGV[1] + 0
--@include only_in_time
--@include end_wait
local waits = 4 + 2 * ARGV[3]
for i = 4, waits - 1, 2 do
  end_wait(ARGV[i], ARGV[i + 1])
end
local all = {}
if #ARGV < waits then return all end
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
prolong(KEYS[1], ARGV[2])
local known = call('HGETALL', KEYS[1])
for i = 1, #known, 2 do
  local record = record_in(known[i + 1])
  if not record then
    call('HDEL', KEYS[1], known[i])
  elseif record ~= '' then
    all[#all + 1] = known[i]
    all[#all + 1] = record
  end
end
return all
