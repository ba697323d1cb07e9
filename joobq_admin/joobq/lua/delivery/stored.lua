-- stored: header and payload of one record, as they stand at one moment. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id
-- Returns {header, payload}; false for one that is not there.
local records, payloads = unpack(KEYS)
return {redis.call('HGET', records, ARGV[1]), redis.call('HGET', payloads, ARGV[1])}
