-- Forgets those whose lease has ended; not `asked`, whose entry is dealt with. `earliest` may be
-- too early, since renewals do not touch it. Saves at once: whatever the script answers, they are
-- gone and no longer counted.
if earliest <= now_ms and earliest > 0 then
  local entries = call('HGETALL', KEYS[1])
  earliest, latest = 0, 0
  for i = 1, #entries, 2 do
    local mode, weight, until_ms = string.match(entries[i + 1], '^(%a)(%d+):%d+:(%d+)')
    if mode and entries[i] ~= asked then
      until_ms = until_ms + 0
      if until_ms <= now_ms then
        call('HDEL', KEYS[1], entries[i])
        held[mode] = held[mode] - weight
      else
        if earliest == 0 or until_ms < earliest then earliest = until_ms end
        if until_ms > latest then latest = until_ms end
      end
    end
  end
  save()
end
