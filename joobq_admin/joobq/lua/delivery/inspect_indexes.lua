-- inspect_indexes: what repair_indexes would do with one page of an index. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] ready or leases · ARGV[2] cursor · ARGV[3] entries a page, about
-- Returns {next cursor, entries looked at, entries that no record stands behind}.
--include header
--include survey_index

local after, scanned, ghosts = survey_index(ARGV[1] == 'ready' and ready or leases, ARGV[2], ARGV[3])
return {after, scanned, #ghosts}
