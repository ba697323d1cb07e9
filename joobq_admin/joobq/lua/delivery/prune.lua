-- prune: one page of records; of these, receipts (COMPLETED or DEAD) whose last change is long ago are deleted.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] cursor · ARGV[2] records a page, about · ARGV[3] ms: what was changed longer ago goes
-- Returns {next cursor, receipts deleted}.
--include header
--include transition
--include primary

local page, gone, last = redis.call('HSCAN', records, ARGV[1], 'COUNT', ARGV[2]), {}, now - ARGV[3]
for i = 1, #page[2], 2 do
  local id = page[2][i]
  local r = decode(id, page[2][i + 1])
  if r and (r.state == 'C' or r.state == 'D') and tonumber(r.updated) < last
    and redis.call('HEXISTS', quarantine, id) == 0 then
    gone[#gone + 1] = id
    staged[id] = false
  end
end
if not gone[1] then return {page[1], 0} end
local deleted = redis.call('HDEL', records, unpack(gone))
redis.call('HDEL', payloads, unpack(gone))
flush()
return {page[1], deleted}
