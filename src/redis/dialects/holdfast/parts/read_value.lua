-- Reads the value of a lock that one has, `held`: sets `major` and `owner`. What is no lock of ours
-- ends the script.
local major, owner = string.match(held, '^1:(%d+):(.+)$')
if not major then
  local version = string.match(held, '^(%d%d?%d?):')
  if version and version ~= '1' then return {'layout', version} end
  return {'foreign'}
end
