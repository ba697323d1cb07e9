-- look: one request, and everything that is kept of it, at one moment by Redis's clock. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id
-- Returns {now in unix ms, header, payload, score in ready, score in leases, copy in quarantine, what the gate's key
--   holds}; false for what is not there.
--include header

local id = ARGV[1]
return {now, redis.call('HGET', records, id), redis.call('HGET', payloads, id), redis.call('ZSCORE', ready, id),
  redis.call('ZSCORE', leases, id), redis.call('HGET', quarantine, id), redis.call('GET', gate)}
