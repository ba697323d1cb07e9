-- repair: one page of records. Corrupt ones are set aside, leases that are over end, the indexes follow the records.
-- What the indexes are to say is read from the record that stands now, in this step: no newer record is overwritten.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] cursor · ARGV[2] records a page, about; fewer when payloads are large · ARGV[3] bytes of payloads a page
-- Returns {next cursor, records looked at, leases ended, records with mended indexes, records set aside, and for each
--   sound record its id and its header}: the payloads are for the caller to check.
--include header
--include transition
--include aside
--include expire
--include survey
--include primary

local found = survey(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]))
local out = {found.cursor, found.scanned, 0, 0, #found.corrupt}
for id, r in pairs(found.over) do
  end_lease(id, r)
  out[3] = out[3] + 1
end
for id, r in pairs(found.lies) do
  staged[id] = r
  out[4] = out[4] + 1
end
for _, id in ipairs(found.corrupt) do set_aside(id, found.raws[id], redis.call('HGET', payloads, id)) end
for _, id in ipairs(found.sound) do
  out[#out + 1] = id
  out[#out + 1] = seen[id] or found.raws[id]
end
flush()
return out
