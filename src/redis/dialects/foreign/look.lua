-- Tells what stands at keys, as far as it could be a lock of another library.
-- KEYS  up to 100 keys
-- Returns for each a list: {} when it is none, or
--   {"string", ms left, or -1 when it never ends by itself, the text}
--   {"hash", the same, field, value, ...}
--   {"zset", the same, member, in how many ms the time is that it has, ...}
-- Locks are short: a text of more than 200 bytes is none, a hash has one field, or it has a mode
-- and no more than 100 others, and a sorted set has no more than 101 members, each with a time.
local call = redis.call
--@include server_ms

local function may_be_lock(key)
  local fields = call('HLEN', key)
  if fields == 1 then return true end
  local mode = fields <= 101 and call('HGET', key, 'mode')
  return mode == 'read' or mode == 'write'
end

local now_ms = server_ms()

local function members_of(key)
  if call('ZCARD', key) > 101 then return {} end
  local held = call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 2, #held, 2 do
    local from_now = tonumber(held[i]) - now_ms
    -- Within a year: other numbers are no times of locks.
    if #held[i - 1] > 200 or math.abs(from_now) > 31536000000 then return {} end
    held[i] = string.format('%.0f', from_now)
  end
  return held
end

local function words_of(key)
  local kind = call('TYPE', key).ok
  if kind == 'zset' then
    local held = members_of(key)
    if #held == 0 then return {} end
    return {kind, call('PTTL', key), unpack(held)}
  end
  if kind == 'string' and call('STRLEN', key) <= 200 then
    return {kind, call('PTTL', key), call('GET', key)}
  end
  if kind ~= 'hash' or not may_be_lock(key) then return {} end
  local words, size = {kind, call('PTTL', key)}, 0
  local held = call('HGETALL', key)
  for i = 1, #held do
    size = size + #held[i]
    words[#words + 1] = held[i]
  end
  return size <= 100 * #held and words or {}
end

local found = {}
for i = 1, #KEYS do found[i] = words_of(KEYS[i]) end
return found
