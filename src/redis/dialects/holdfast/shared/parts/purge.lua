-- Forgets holders whose lease has ended; not `asked`, whose entry is dealt with. `earliest` may be
-- too early, since renewals do not touch it. A script looks at one page of the holders and no more;
-- the field `>` says where the next one goes on: `<cursor>:<earliest end among those seen>`. Until
-- the last page `earliest` is 1: a time that has passed, also after the clock was set back, so that
-- nothing is taken for looked at that is not. Where one of those seen has ended meanwhile, the
-- first page follows the last: whoever waits would hear of no lease that ends.
-- Saves at once: whatever the script answers, they are gone and no longer counted.
if earliest > 0 and earliest <= now_ms then
  local before = call('HGET', KEYS[1], '>')
  local cursor, least = string.match(before or '', '^(%d+):(%d+)$')
  least = tonumber(least or 0)
  local page = call('HSCAN', KEYS[1], cursor or '0', 'COUNT', '100')
  local entries, gone, seen, most = page[2], {}, {}, 0
  for i = 1, #entries, 2 do
    local request = entries[i]
    local mode, weight, until_ms = string.match(entries[i + 1], '^(%a)(%d+):%d+:(%d+)')
    if mode and request ~= asked and not seen[request] then
      seen[request] = true
      until_ms = until_ms + 0
      if until_ms <= now_ms then
        gone[#gone + 1] = request
        held[mode] = held[mode] - weight
      else
        if least == 0 or until_ms < least then least = until_ms end
        if until_ms > most then most = until_ms end
      end
    end
  end
  if #gone > 0 then call('HDEL', KEYS[1], unpack(gone)) end
  if page[1] ~= '0' or least > 0 and least <= now_ms then
    -- Also where all have ended in this very millisecond: what is past would delete the key at
    -- once, and what is written behind that would make another, without an end.
    latest = math.max(latest, now_ms + 1)
    -- First, since it passes when memory is short, and what follows a write passes too.
    call('PEXPIREAT', KEYS[1], string.format('%.0f', latest))
    sweep = {cursor = page[1], least = page[1] == '0' and 0 or least}
    earliest = 1
  else
    if before then call('HDEL', KEYS[1], '>') end
    earliest = least
    -- What was renewed behind a page that was looked at before may last longer.
    if not cursor then latest = most end
  end
  save()
end
