-- admit: requests are accepted, each once.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] records that the ledger may hold
-- ARGV[2...] of each request: id, delay in ms, SHA-256 of the payload in hex, traceparent or "-", payload
-- Returns for each request an outcome and the header that stands now ('' = none): ACCEPTED · DUPLICATE the same payload
--   is here · CONFLICT another payload is here, or a corrupt record, or one in quarantine · FULL. Only ACCEPTED changes
--   anything.
--include header
--include transition

local ids, fresh, out = {}, {}, {}
for i = 2, #ARGV, 5 do ids[#ids + 1] = ARGV[i] end
load(ids)
local held, most = redis.call('HLEN', records), tonumber(ARGV[1])
for i = 2, #ARGV, 5 do
  local id, delay, digest, trace, payload = unpack(ARGV, i, i + 4)
  local raw, outcome, header = seen[id], 'CONFLICT', ''
  if raw or aside[id] then
    local r = record(id)
    if r and sub(r.birth, 28) == digest and (fresh[id] or redis.call('HGET', payloads, id)) == payload then
      outcome, header = 'DUPLICATE', raw
    end
  elseif held >= most then
    outcome = 'FULL'
  else
    outcome, held, fresh[id] = 'ACCEPTED', held + 1, payload
    bodies[#bodies + 1] = id
    bodies[#bodies + 1] = payload
    header = put(id, newborn(payload, digest, 'R', ms(now + delay), trace, ''))
  end
  out[#out + 1] = outcome
  out[#out + 1] = header
end
if not headers[1] then
  redis.call('HDEL', records, '')  -- as in primary.lua, but last: a full Redis is to take no new request
end
flush()
return out
