-- prune: one page of records; of these, receipts (COMPLETED or DEAD) whose last change is long ago are deleted.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] cursor · ARGV[2] records a page, about · ARGV[3] ms: what was changed longer ago goes
-- Returns {next cursor, records looked at, receipts deleted}.
--include header
--include transition
--include receipts
--include primary

local after, scanned, old = receipts(ARGV[1], ARGV[2], ARGV[3])
if not old[1] then return {after, scanned, 0} end
for _, id in ipairs(old) do staged[id] = false end
local deleted = redis.call('HDEL', records, unpack(old))
redis.call('HDEL', payloads, unpack(old))
flush()
return {after, scanned, deleted}
