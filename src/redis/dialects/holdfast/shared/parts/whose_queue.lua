-- Sets `whose`: m where those who wait want modes, s: permits, another letter: a lock of another
-- kind; nil: nobody waits. All who wait in one queue are of one kind.
local first = waiting and redis.pcall('ZRANGE', KEYS[2], '0', '0')[1]
local whose = string.match(first or '', '^[^:]+:(%a)')
if whose and string.find('ncdrpxu', whose, 1, true) then whose = 'm' end
