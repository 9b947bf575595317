-- At a Sentinel group: notices that the master is not the one that voted last. It may not have
-- heard of the last votes and counts, so the group goes the way of who lost its memory. A master
-- has a replication id of its own, from when it starts or is promoted. It says so itself: no late
-- copy of a request can name an older one. Needs the counter; ARGV[6]: for how many ms it gives no
-- vote, or empty at a single server, which keeps its memory when it starts again.
if ARGV[6] ~= '' then
  local master = string.match(call('INFO', 'replication'), 'master_replid:(%x+)')
  if call('GET', KEYS[4]) ~= master then
    call('DEL', KEYS[4])  -- passes when memory is short, and so does what follows
    if last then
      call('SET', KEYS[3], '1', 'PX', ARGV[6])
      zero = '0'
      call('SET', KEYS[2], zero .. string.format('%.0f', last))
    end
    call('SET', KEYS[4], master)
  end
end
