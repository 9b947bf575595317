-- The key whose time is that of one hold of a reader: named as Redisson's suffixName does it, with
-- no braces around a name that has some. Declared nowhere, as in its own scripts.
local function timeout_of(key, reader, hold)
  local name = key:find('{', 1, true) and key or '{' .. key .. '}'
  return name .. ':' .. reader .. ':rwlock_timeout:' .. hold
end
