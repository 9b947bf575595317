-- Sets `prolong`: prolongs the leases of these keys, and never shortens one; tells how many ms are
-- in force for all.
local function prolong_one(key, lease)
  --@include prolong
end

local function prolong(keys, lease)
  local least
  for i = 1, #keys do
    local left = prolong_one(keys[i], lease)
    least = math.min(least or left, left)
  end
  return least
end
