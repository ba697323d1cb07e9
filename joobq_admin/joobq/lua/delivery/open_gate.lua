-- open_gate: leases are given again. Only the gate that was read is opened, another one stays.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] what the gate's key held, "+" before it; "-" = nothing
-- Returns {1 opened · 0 not, what the key holds now, or held when it was opened}.
--include header
--include primary

local held = redis.call('GET', gate)
if (held and '+' .. held or '-') ~= ARGV[1] then return {0, held} end
return {redis.call('DEL', gate), held}
