-- A request that is executed once, however many copies of it arrive. Ends the script with what an
-- earlier copy was answered, or when this one comes too late to be executed. Needs KEYS[1], where
-- the answer is remembered, and ARGV[1], not-after: a server time in us, the same in all copies.
local call = redis.call
--@include server_time
local told = call('GET', KEYS[1])
if told then return {told, now} end
local not_after = ARGV[1] + 0
--@include only_in_time
