-- Reads who is behind the request ids of a client, and what some of its grants are for; writes
-- nothing.
-- KEYS  1 the client's entry in the registry
-- ARGV  fields of notes
-- Returns {host, pid, program, version, since, note, ...}: the beginning of each, empty where it is
-- missing; {}: there is no entry. One script, since a field may be of any size: others may write
-- it, too.
local entry = {}
if redis.call('TYPE', KEYS[1]).ok == 'hash' then
  for _, field in ipairs({'host', 'pid', 'program', 'version', 'since'}) do
    entry[#entry + 1] = string.sub(redis.call('HGET', KEYS[1], field) or '', 1, 129)
  end
  for _, field in ipairs(ARGV) do
    entry[#entry + 1] = string.sub(redis.call('HGET', KEYS[1], field) or '', 1, 257)
  end
end
return entry
