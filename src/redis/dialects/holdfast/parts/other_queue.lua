-- Ends the script where one of the queue, `first` (nil: nobody waits), waits for a lock of another
-- kind. All who wait in one queue are of one kind.
local whose = string.match(first or '', '^[^:]+:(%a)')
if whose and whose ~= 'o' then return {'foreign'} end
