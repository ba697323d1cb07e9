-- repair_indexes: one page of an index. What its record does not ask for, or has no record, goes or is put right.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] ready or leases · ARGV[2] cursor · ARGV[3] entries a page, about
-- Returns {next cursor, entries looked at, entries mended}.
--include header
--include transition
--include primary

local index = ARGV[1] == 'ready' and ready or leases
local page, ids, mended = redis.call('ZSCAN', index, ARGV[2], 'COUNT', ARGV[3]), {}, 0
local list = page[2]
for i = 1, #list, 2 do ids[#ids + 1] = list[i] end
if not ids[1] then return {page[1], 0, 0} end
load(ids)
local aside = redis.call('HMGET', quarantine, unpack(ids))
for n, id in ipairs(ids) do
  local r = not aside[n] and seen[id] and decode(id, seen[id]) or false
  local score = r and (index == ready and r.state == 'R' and r.due or index == leases and r.state == 'L' and r.lease)
  if tonumber(score or -1) ~= tonumber(list[2 * n]) then
    staged[id] = r
    mended = mended + 1
  end
end
flush()
return {page[1], #ids, mended}
