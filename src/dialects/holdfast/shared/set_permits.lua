-- Says how many permits there are, or says it no more, and lets in who may now come in.
-- KEYS  as in acquire.lua
-- ARGV  1 how many; or nothing: those who ask say it
-- Returns 0, or 2: as in release.lua.
local call = redis.call
if ARGV[1] == '' then
  call('DEL', KEYS[5])
else
  call('SET', KEYS[5], ARGV[1])
end
local asked, restores = '', false
--@include look
--@include give_back
