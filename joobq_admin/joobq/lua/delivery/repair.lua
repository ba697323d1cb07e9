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
--include primary

local count, room, page, size = tonumber(ARGV[2]), tonumber(ARGV[3]), nil, nil
repeat
  page, size = redis.call('HSCAN', records, ARGV[1], 'COUNT', count), 0
  for i = 2, #page[2], 2 do size = size + #page[2][i] + (tonumber(sub(page[2][i], 62, 71)) or 0) end
  local halve = size > room and count > 1
  count = math.floor(count / 2)
until not halve

local ids, raws = {}, {}
for i = 1, #page[2], 2 do
  local id = page[2][i]
  if not raws[id] then ids[#ids + 1] = id end  -- a page may name one twice
  raws[id] = page[2][i + 1]
end
local out = {page[1], #ids, 0, 0, 0}
if not ids[1] then return out end
local aside = redis.call('HMGET', quarantine, unpack(ids))
local due, ends = redis.call('ZMSCORE', ready, unpack(ids)), redis.call('ZMSCORE', leases, unpack(ids))
local function is(score, wanted) return tonumber(score or -1) == tonumber(wanted or -1) end
for n, id in ipairs(ids) do
  local raw = raws[id]
  local r = decode(id, raw)
  if aside[n] then
    if due[n] or ends[n] then staged[id] = false end
  elseif not r then
    set_aside(id, raw, redis.call('HGET', payloads, id))
    out[5] = out[5] + 1
  else
    if r.state == 'L' and tonumber(r.lease) <= now then
      end_lease(id, r)
      out[3] = out[3] + 1
    elseif not (is(due[n], r.state == 'R' and r.due) and is(ends[n], r.state == 'L' and r.lease)) then
      staged[id] = r
      out[4] = out[4] + 1
    end
    out[#out + 1] = id
    out[#out + 1] = seen[id] or raw
  end
end
flush()
return out
