-- release: a quarantined record that decodes now is put back under the indexes.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] id · ARGV[2] header as it was reviewed · ARGV[3] payload as it was reviewed ("+" before each, "-" = none)
-- Returns RELEASED · CORRUPT its header does not decode · CHANGED other bytes are stored now · MISSING it is not in
--   quarantine. Only RELEASED changes anything.
--include header
--include transition
--include reviewed
--include primary

local id = ARGV[1]
local refused, raw = reviewed(id, ARGV[2], ARGV[3])
if refused then return refused end
local r = raw and decode(id, raw)
if not r then return 'CORRUPT' end
staged[id] = r
flush()
redis.call('HDEL', quarantine, id)
return 'RELEASED'
