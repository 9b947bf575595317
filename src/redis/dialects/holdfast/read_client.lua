-- Reads who is behind the request ids of a client; writes nothing.
-- KEYS  1 the client's entry in the registry
-- Returns {host, pid, program, version, since}: the beginning of each, empty where it is missing;
-- {}: there is no entry. One script, since a field may be of any size: others may write it, too.
local entry = {}
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  for at, field in ipairs({'host', 'pid', 'program', 'version', 'since'}) do
    entry[at] = string.sub(redis.call('HGET', KEYS[1], field) or '', 1, 129)
  end
end
return entry
