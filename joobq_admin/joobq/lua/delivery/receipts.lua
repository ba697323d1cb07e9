-- receipts: what prune would delete of one page of records. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] cursor · ARGV[2] records a page, about · ARGV[3] ms: what was changed longer ago counts
-- Returns {next cursor, records looked at, old receipts}.
--include header
--include receipts

local after, scanned, old = receipts(ARGV[1], ARGV[2], ARGV[3])
return {after, scanned, #old}
