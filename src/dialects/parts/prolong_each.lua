-- Sets `prolong`: prolongs the leases of the keys `from` to `to`, and never shortens one; tells how
-- many ms are in force for all.
local function prolong_one(key, lease)
  --@include prolong
end

local function prolong(from, to, lease)
  local least
  for i = from, to do
    local left = prolong_one(KEYS[i], lease)
    least = math.min(least or left, left)
  end
  return least
end
