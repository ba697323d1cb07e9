-- repair_indexes: one page of an index. An entry that no record stands behind goes.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] ready or leases · ARGV[2] cursor · ARGV[3] entries a page, about
-- Returns {next cursor, entries looked at, entries taken out}.
--include header
--include survey_index
--include primary

local index = ARGV[1] == 'ready' and ready or leases
local after, scanned, ghosts = survey_index(index, ARGV[2], ARGV[3])
return {after, scanned, ghosts[1] and redis.call('ZREM', index, unpack(ghosts)) or 0}
