-- Returns the next major, or nil and the reply that says why there is none. `text` is the major's.
-- Also where one was drawn before: draw_major needs the time in `text`, and would take that major
-- for the time at which the counter was written.
local time_text = text
local function draw()
  text = time_text
  --@include draw_major
  if refusal then return nil, refusal end
  return major
end
