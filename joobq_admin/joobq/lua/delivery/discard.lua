-- discard: a quarantined record is deleted with its payload and with the copy in quarantine.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id · ARGV[2] header as it was reviewed · ARGV[3] payload as it was reviewed ("+" before each, "-" = none)
-- Returns DISCARDED · CHANGED other bytes are stored now · MISSING it is not in quarantine. Only DISCARDED changes
--   anything.
--include header
--include transition
--include reviewed
--include primary

local id = ARGV[1]
local refused = reviewed(id, ARGV[2], ARGV[3])
if refused then return refused end
redis.call('HDEL', records, id)
redis.call('HDEL', payloads, id)
staged[id] = false
flush()
redis.call('HDEL', quarantine, id)
return 'DISCARDED'
