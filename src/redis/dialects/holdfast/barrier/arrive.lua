-- Arrives at a barrier, and waits for the others or lets them all go on.
-- KEYS  1 the barrier: `1b:`, how many parties there are, `:`, the largest floor of those who wait
--       2 its queue: party -> when it came, server time in us
--       3 when each party asked last: party -> server time in us
--       4 the fence counter of its hash slot
--       5 who went on lately: request id -> generation
-- ARGV  1 request id
--       2 not-after: refused when the server's time in us is later than this
--       3 floor: the generation is above it
--       4 how many parties there are
-- who waits also gives
--       5 what stands behind the request id in the queue, as in acquire.lua
--       6 when he was last told to wait, or 0
-- Returns
--   {"open", generation}   all have arrived
--   {"shut"}               others are missing, and the request does not wait
--   {"queued", place, ms, server time, server time, new}
--                          it waits; for the ms see waiting_times.hpp, for `new` acquire.lua
--   {"gone"}               it was taken for dead, and the others went on, or may have gone on
--   {"parties", n}         others wait for n parties
--   {"foreign", server time}   the key holds no barrier
--   {"late", server time}, {"skew", server time}, {"counter", content}   as in acquire.lua
local call = redis.call
--@include server_time
if now > ARGV[2] + 0 then return {'late', now} end
local me, floor, parties = ARGV[1], ARGV[3] + 0, ARGV[4]
local went_on = call('ZSCORE', KEYS[5], me)
if went_on then return {'open', went_on} end
local held = call('GET', KEYS[1])
local agreed, known_floor = string.match(held or '', '^1b:(%d+):(%d+)$')
if not agreed and call('EXISTS', KEYS[1], KEYS[2]) > 0 then return {'foreign', now} end
local whose = agreed and string.match(call('ZRANGE', KEYS[2], 0, 0)[1] or '', '^[^:]+:(%a)')
if whose and whose ~= 'b' then return {'foreign', now} end
if agreed and known_floor + 0 > floor then floor = known_floor + 0 end

local member = ARGV[5] and me .. ARGV[5]
local arrived = member and call('ZSCORE', KEYS[2], member)
local last = member and call('ZRANGE', KEYS[5], -1, -1, 'WITHSCORES')[2]
if member and not arrived and ARGV[6] ~= '0' then
  -- What he was part of is remembered for so long.
  if now - ARGV[6] > 600000000 or last and last + 0 >= ARGV[6] + 0 then return {'gone'} end
end
local here = call('ZCARD', KEYS[2])
if not arrived then here = here + 1 end
if agreed and agreed ~= parties or here >= parties + 0 then
  --@include drop_gone
  if #others > 0 and agreed ~= parties then return {'parties', agreed} end
  if #others + 1 >= parties + 0 then
    --@include draw_major
    if refusal then return refusal end
    --@include drop_former
    call('ZADD', KEYS[5], text, me)
    for _, other in ipairs(others) do
      local request, claim, way, channel, proof = unpack(other)
      call('ZADD', KEYS[5], text, request)
      if way == '-' then
        redis.pcall('PUBLISH', channel, table.concat({'complete', request, text, claim,
          string.format('%.0f', now), proof, KEYS[1]}, ' '))
      end
    end
    call('PEXPIRE', KEYS[5], 600000)
    call('DEL', KEYS[1], KEYS[2], KEYS[3])
    return {'open', text}
  end
end
if not member then return {'shut'} end
call('SET', KEYS[1], '1b:' .. parties .. ':' .. string.format('%.0f', floor), 'PX', '180000')
-- Each with its end behind it: where the next one fails, nothing is left for ever.
call('HSET', KEYS[3], member, text)
call('PEXPIRE', KEYS[3], '180000')
if not arrived then call('ZADD', KEYS[2], text, member) end
call('PEXPIRE', KEYS[2], '180000')
-- Later than those who went on before, also when their generation is ahead of the clock.
if last and last + 0 >= now then text = string.format('%.0f', last + 1) end
return {'queued', call('ZRANK', KEYS[2], member), 60000, text, now, arrived and 0 or 1}
