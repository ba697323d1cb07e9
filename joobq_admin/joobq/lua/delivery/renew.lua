-- renew: a longer lease for the one who still holds it.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id · ARGV[2] admitted at · ARGV[3] attempt · ARGV[4] owner · ARGV[5] lease in ms from now; none gets shorter
-- Returns {outcome, the lease's end ('' = as it was)}: APPLIED · LOST not held any more, or in quarantine
--   · GATE_CLOSED. Only APPLIED changes anything.
--include header
--include transition
--include holds
--include primary

local id, admitted, attempt, owner, lease = unpack(ARGV)
load({id})
local r = record(id)
if not holds(r, admitted, attempt, owner) or r.state ~= 'L' or now >= tonumber(r.lease) then return {'LOST', ''} end
if redis.call('EXISTS', gate) == 1 then return {'GATE_CLOSED', ''} end
r.lease = ms(math.max(tonumber(r.lease), now + lease))
put(id, r)
flush()
return {'APPLIED', r.lease}
