-- When the lease of `token` ends, server time in ms; nil: it has none. A text at the key is a lock
-- of Symfony before 5.2.
local function end_of(key, token)
  if call('TYPE', key).ok == 'string' then return nil end
  return tonumber(call('ZSCORE', key, token))
end
