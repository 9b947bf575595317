-- Prolongs the lease of `key` to `lease` ms, and never shortens it. Ends the function: tells how
-- many ms are in force now.
local lasts = math.max(call('PTTL', key), lease + 0)
-- Also where it changes nothing: a replica, whose master may have given the lock to another, must
-- not answer that it is still held, and refuses what writes.
call('PEXPIRE', key, lasts)
return lasts
