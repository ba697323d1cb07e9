-- inspect: what repair would do with one page of records. Reads only.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] cursor · ARGV[2] records a page, about; fewer when payloads are large · ARGV[3] bytes of payloads a page
-- Returns {next cursor, records looked at, leases that are over, records whose index lies, records that are corrupt, and
--   for each sound record its id and its header}: the payloads are for the caller to check.
--include header
--include survey

local found = survey(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
local out = {found.cursor, found.scanned, 0, 0, #found.corrupt}
for _ in pairs(found.over) do out[3] = out[3] + 1 end
for _ in pairs(found.lies) do out[4] = out[4] + 1 end
for _, id in ipairs(found.sound) do
  out[#out + 1] = id
  out[#out + 1] = found.raws[id]
end
return out
