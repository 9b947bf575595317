-- permits_of("10000 2 UUID"): our permits UUID_0 and UUID_1, and after how many ms everybody takes
-- back a permit that was not refreshed. One alone is called UUID.
local function permits_of(owner)
  local timeout, count, identifier = string.match(owner, '^(%d+) (%d+) (.*)$')
  if count == '1' then return {identifier}, timeout + 0 end
  local permits = {}
  for i = 1, count + 0 do permits[i] = identifier .. '_' .. i - 1 end
  return permits, timeout + 0
end
