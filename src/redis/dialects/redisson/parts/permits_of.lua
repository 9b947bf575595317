-- The permits of one of our requests: `owner` is the first, 16 bytes as Redisson's own are, and in
-- digits how many there are. The next ones count on in the last four bytes.
local function permits_of(owner)
  local last, all = struct.unpack('>I4', owner:sub(13, 16)), {}
  for i = 0, owner:sub(17) - 1 do
    all[i + 1] = owner:sub(1, 12) .. struct.pack('>I4', (last + i) % 4294967296)
  end
  return all
end
