-- Writes down grants of locks, and how grants ended, in the audit trail of a key space.
-- KEYS  1 the trail: a stream
-- ARGV  1 how many entries stay, about; 2 the client's host, 3 its pid, 4 its program, 5 its id;
--         then of each entry: event, name, kind, token, grant, age, held, error
-- Returns 1. All entries have the same fields in the same order: a stream keeps their names once.
for i = 6, #ARGV, 8 do
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*',
    'event', ARGV[i], 'name', ARGV[i + 1], 'kind', ARGV[i + 2], 'token', ARGV[i + 3],
    'grant', ARGV[i + 4], 'age', ARGV[i + 5], 'held', ARGV[i + 6], 'error', ARGV[i + 7],
    'host', ARGV[2], 'pid', ARGV[3], 'program', ARGV[4], 'client', ARGV[5])
end
return 1
