-- Prolongs leases of locks that several may hold, and never shortens one.
-- KEYS  the holders of up to 100 locks
-- ARGV  1       not-after: refused when the server's time in us is later than this
--       2i      the request id that holds lock i, and its token: `<request id>:<token>`
--       2i + 1  its lease in ms
-- Returns {"late", server time}, or a list with one verdict for each key:
--   ms > 0   now in force
--   0        not ours any more, or ended
--   text     the error of the server; the other keys are not concerned
local call = redis.call
local not_after = ARGV[1]
--@include refuse_late
local now_ms = math.floor(now / 1000)

local function renew(key, held, lease)
  local request, named = string.match(held, '^(.+):(%d+)$')
  local who, token, until_ms, before =
    string.match(call('HGET', key, request) or '', '^(%a%d+:(%d+):)(%d+)(.*)$')
  if token ~= named or until_ms + 0 <= now_ms then return 0 end
  local wanted = math.max(until_ms + 0, now_ms + lease)
  local wanted_text = string.format('%.0f', wanted)
  local head, latest, tail = string.match(call('HGET', key, '='), '^(1[ms]:%d+:)(%d+)(:.+)$')
  -- First, and also where it changes nothing: it passes when memory is short, and what follows a
  -- write passes too; and a replica refuses it, see prolong.lua.
  call('PEXPIREAT', key, latest + 0 < wanted and wanted_text or latest)
  call('HSET', key, request, who .. wanted_text .. before)
  if latest + 0 < wanted then call('HSET', key, '=', head .. wanted_text .. tail) end
  return wanted - now_ms
end

--@include renew_each
