-- Writes the value block of a lock with modes, for the one who holds it to write.
-- KEYS  1 where the answer is remembered
--       2 the lock's holders
--       3 the value block: `<the token it was written under>:<bytes>`
-- ARGV  1 not-after
--       2 the holder's request id
--       3 his token
--       4 the bytes; none: the block goes
-- Returns {answer, server time in us}; the answer is
--   written   done
--   lost      he does not hold it for writing (any more)
--   late      not executed: after not-after
--@include once
local entry = call('HGET', KEYS[2], ARGV[2])
local token, until_ms = string.match(entry or '', '^[px]%d+:(%d+):(%d+)')
local answer = 'lost'
if token == ARGV[3] and until_ms * 1000 > now then
  answer = 'written'
  if ARGV[4] == '' then
    --@include may_remember
    call('DEL', KEYS[3])
  else
    call('SET', KEYS[3], token .. ':' .. ARGV[4])
  end
end
--@include remember
