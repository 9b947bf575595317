-- Tells what stands at keys, as far as it could be a lock of another library.
-- KEYS  up to 100 keys
-- Returns for each a list: {} when it is none, or
--   {"string", ms left, or -1 when it never ends by itself, the text}
--   {"hash", the same, field, value}
-- Locks are short: a text of more than 200 bytes and a hash of several fields are none.
local call = redis.call
local found = {}
for i = 1, #KEYS do
  local key = KEYS[i]
  local kind = call('TYPE', key).ok
  local words = {}
  if kind == 'string' and call('STRLEN', key) <= 200 then
    words = {kind, call('PTTL', key), call('GET', key)}
  elseif kind == 'hash' and call('HLEN', key) == 1 then
    local held = call('HGETALL', key)
    if #held[1] + #held[2] <= 200 then words = {kind, call('PTTL', key), held[1], held[2]} end
  end
  found[i] = words
end
return found
