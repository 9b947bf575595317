-- Ends the script when the server's time in us, `now`, is later than `not_after`, or when that is
-- 2^53: who does not know the time yet is told it, since no later copy of such a request would ever
-- be refused.
if now > not_after or not_after >= 9007199254740992 then return {'late', now} end
