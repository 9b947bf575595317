-- Tells what stands at keys, as far as it could be a lock of another library.
-- KEYS  up to 100 keys
-- Returns for each a list: {} when it is none, or
--   {"string", ms left, or -1 when it never ends by itself, the text}
--   {"hash", the same, field, value, ...}
-- Locks are short: a text of more than 200 bytes is none, and a hash has one field, or it has a
-- mode and no more than 100 others.
local call = redis.call

local function may_be_lock(key)
  local fields = call('HLEN', key)
  if fields == 1 then return true end
  local mode = fields <= 101 and call('HGET', key, 'mode')
  return mode == 'read' or mode == 'write'
end

local function words_of(key)
  local kind = call('TYPE', key).ok
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
