-- Reads a part of a stream that anybody may have written; writes nothing.
-- KEYS  1 the stream
-- ARGV  1 the id from which to read; 2 how many entries; then the fields that are wanted
-- Returns {server's time in ms, entries in the whole stream, {{id, text, ...}, ...}}: of each text
-- the beginning, empty where the field is missing. A script, since a field may be of any size.
local call = redis.call
--@include server_ms
local found = {}
for _, entry in ipairs(call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])) do
  local texts = {}
  for i = 1, #entry[2] - 1, 2 do texts[entry[2][i]] = entry[2][i + 1] end
  local one = {entry[1]}
  for i = 3, #ARGV do one[#one + 1] = string.sub(texts[ARGV[i]] or '', 1, 513) end
  found[#found + 1] = one
end
return {server_ms(), call('XLEN', KEYS[1]), found}
