-- claim: what is due longest is leased. When nothing is due, leases that are over end first.
-- What is due is told by the header, never by the index: a corrupt record is set aside, an index that lies is mended.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] owner · ARGV[2] lease in ms · ARGV[3] most claims · ARGV[4] most bytes of payloads; one is always given
-- ARGV[5] bytes of the longest payload that is answered · ARGV[6] 1 leases may end · 0 not
-- Returns {index entries that were passed over, 1 more is due but its payload was too much · 0 not, and for each claim
--   its id, header, payload}. In the place of a longer payload stands false: the caller reads it and checks it against
--   the header. No claim while the gate is closed.
--include header
--include transition
--include aside
--include expire
--include primary

if redis.call('EXISTS', gate) == 1 then return {0, 0} end
local owner, ends = ARGV[1], ms(now + ARGV[2])
local limit, room, inline = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local passed, more = 0, 0
local function due() return redis.call('ZRANGE', ready, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit) end
local ids = due()
if not ids[1] and ARGV[6] == '1' then
  local _, looked = expire(128)
  passed = looked
  ids = due()
end
if not ids[1] then return {passed, 0} end

load(ids)
local taken, found, short, payload = {}, {}, {}, {}
for _, id in ipairs(ids) do
  local r = record(id)
  if r and r.state == 'R' and tonumber(r.due) <= now then
    room = room - r.size
    if room < 0 and taken[1] then more = 1 break end
    taken[#taken + 1] = id
    found[id] = r
    if r.size <= inline then short[#short + 1] = id end
  else
    passed = passed + 1
    mend(id, r)
  end
end
if short[1] then
  local got = redis.call('HMGET', payloads, unpack(short))
  for i = 1, #short do payload[short[i]] = got[i] end
end
local out = {passed, more}
for _, id in ipairs(taken) do
  local r, body = found[id], payload[id]
  if body == false or (body and #body or redis.call('HSTRLEN', payloads, id)) ~= r.size then
    out[1] = out[1] + 1
    set_aside(id, seen[id], redis.call('HGET', payloads, id))
  else
    r.state, r.owner, r.lease, r.attempt = 'L', owner, ends, format('%010d', r.attempt + 1)
    out[#out + 1] = id
    out[#out + 1] = put(id, r)
    out[#out + 1] = body or false
  end
end
flush()
return out
