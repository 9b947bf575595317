-- Prolongs the lease of `key` to `lease` ms, and never shortens it. Ends the function: tells how
-- many ms are in force now.
local remaining = call('PTTL', key)
local wanted = lease + 0
if remaining >= wanted then return remaining end
call('PEXPIRE', key, lease)
return wanted
