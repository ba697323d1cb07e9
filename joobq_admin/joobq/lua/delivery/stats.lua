-- stats: how much a ledger holds, at this moment by Redis's clock, counted by its indexes. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- Returns {now in unix ms, records, due now, due later, leases that run, leases that are over, records in quarantine,
--   score of what is due longest ('' = nothing waits), what the gate's key holds (false: the gate is open), score of the
--   lease that ends last ('' = nothing is leased)}.
--include header

local first = redis.call('ZRANGE', ready, 0, 0, 'WITHSCORES')
local last = redis.call('ZRANGE', leases, -1, -1, 'WITHSCORES')
local function over(index) return redis.call('ZCOUNT', index, '-inf', NOW) end
local function ahead(index) return redis.call('ZCOUNT', index, '(' .. NOW, '+inf') end
return {now, redis.call('HLEN', records), over(ready), ahead(ready), ahead(leases), over(leases),
  redis.call('HLEN', quarantine), first[2] or '', redis.call('GET', gate), last[2] or ''}
