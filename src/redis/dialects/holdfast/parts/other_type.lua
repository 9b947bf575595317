-- Ends the script where `held`, what was read of the lock's key, is an error: a key of another type
-- is no lock that is asked for here.
local wrong = type(held) == 'table' and held.err
if wrong then return string.find(wrong, 'WRONGTYPE', 1, true) and {'foreign'} or held end
