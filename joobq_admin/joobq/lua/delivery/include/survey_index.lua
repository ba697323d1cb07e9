-- One page of an index, and which entries their records do not ask for; nothing is changed. `lies`: what the record is,
-- false for one that is corrupt, in quarantine or not there.
local function survey_index(index, cursor, count)
  local page, ids, lies, mended = redis.call('ZSCAN', index, cursor, 'COUNT', count), {}, {}, 0
  local list = page[2]
  for i = 1, #list, 2 do ids[#ids + 1] = list[i] end
  local raws = ids[1] and redis.call('HMGET', records, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    local r = raws[n] and redis.call('HEXISTS', quarantine, id) == 0 and decode(id, raws[n]) or false
    local score = r and (index == ready and r.state == 'R' and r.due or index == leases and r.state == 'L' and r.lease)
    if tonumber(score or -1) ~= tonumber(list[2 * n]) then
      lies[id] = r
      mended = mended + 1
    end
  end
  return page[1], #ids, mended, lies
end
