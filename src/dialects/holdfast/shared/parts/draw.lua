-- Returns the next major, or nil and the reply that says why there is none. `text` is the major's.
local function draw()
  --@include draw_major
  if refusal then return nil, refusal end
  return major
end
