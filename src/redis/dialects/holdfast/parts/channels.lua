-- Where clients listen: `channels .. <client id>`. The channels of a tenant begin as its keys do.
local channels = (string.match(KEYS[1], '^hf:@[^:]+:') or 'hf:') .. 'c:'
