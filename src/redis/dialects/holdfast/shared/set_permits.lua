-- Says how many permits there are, or says it no more, and lets in who may now come in.
-- KEYS  as in acquire.lua
-- ARGV  1 how many; or nothing: those who ask say it
--       2 not-after: refused when the server's time in us is later than this
-- Returns 0, or 2: as in release.lua; {"family", "m"}, {"foreign"}, {"layout", version}, as in
-- acquire.lua, and {"late", now}: nothing was done.
local call = redis.call
--@include server_time
local not_after = ARGV[2] + 0
--@include only_in_time
local asked, restores, named = '', false, nil
--@include look
--@include load
if family == 'm' then return {'family', family} end
--@include whose_queue
if whose and whose ~= 's' then return whose == 'm' and {'family', whose} or {'foreign'} end
if ARGV[1] == '' then
  call('DEL', KEYS[5])
else
  call('SET', KEYS[5], ARGV[1])
end
--@include give_back
