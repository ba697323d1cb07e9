-- quarantine: one record whose payload does not fit its digest is set aside, while exactly these bytes are stored.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id · ARGV[2] header as it was seen · ARGV[3] payload as it was seen, "+" before it; "-" = there was none
-- Returns 1 done · 0 other bytes are stored now.
--include header
--include transition
--include aside
--include primary

local id, raw, body = ARGV[1], ARGV[2], redis.call('HGET', payloads, ARGV[1])
if redis.call('HGET', records, id) ~= raw or (body and '+' .. body or '-') ~= ARGV[3] then return 0 end
set_aside(id, raw, body)
flush()
return 1
