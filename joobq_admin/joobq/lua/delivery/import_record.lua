-- import_record: one record of another ledger is taken over while the gate is closed.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] records that the ledger may hold · ARGV[2] id · ARGV[3] R, C or D · ARGV[4] due, 15 digits of ms
-- ARGV[5] owner · ARGV[6] SHA-256 of the payload in hex · ARGV[7] payload
-- Returns an outcome and the header that stands now ('' = none): ACCEPTED · DUPLICATE exactly this was imported
--   · CONFLICT something else is here · FULL · GATE_OPEN. Only ACCEPTED changes anything.
--include header
--include transition

local function here(outcome, header)
  redis.call('HDEL', records, '')  -- as in admit.lua
  return {outcome, header or ''}
end
if redis.call('EXISTS', gate) == 0 then return here('GATE_OPEN') end
local most, id, state, due, owner, digest, payload = unpack(ARGV)
load({id})
local raw = seen[id]
if raw or aside[id] then
  local r = record(id)
  if r and sub(r.birth, 28) == digest and r.state == state and r.due == due and r.owner == owner
    and redis.call('HGET', payloads, id) == payload then return here('DUPLICATE', raw) end
  return here('CONFLICT')
end
if redis.call('HLEN', records) >= tonumber(most) then return here('FULL') end
bodies = {id, payload}
raw = put(id, newborn(payload, digest, state, due, '-', owner))
flush()
return {'ACCEPTED', raw}
