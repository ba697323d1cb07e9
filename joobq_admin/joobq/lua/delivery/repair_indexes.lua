-- repair_indexes: one page of an index. What its record does not ask for, or has no record, goes or is put right.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] ready or leases · ARGV[2] cursor · ARGV[3] entries a page, about
-- Returns {next cursor, entries looked at, entries mended}.
--include header
--include transition
--include survey_index
--include primary

local after, scanned, mended, lies = survey_index(ARGV[1] == 'ready' and ready or leases, ARGV[2], ARGV[3])
for id, r in pairs(lies) do staged[id] = r end
flush()
return {after, scanned, mended}
