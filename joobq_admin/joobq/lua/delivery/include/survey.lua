-- One page of records, and what is wrong with it by what stands now; nothing is changed. It has fewer records when their
-- payloads are large. `over`: leases that are over · `lies`: an index does not say what the record says (false: it is in
-- quarantine, and no index is to hold it) · `corrupt` and `sound`: what does not decode, and what does.
local function survey(cursor, count, room)
  local page, size
  repeat
    page, size = redis.call('HSCAN', records, cursor, 'COUNT', count), 0
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
  local found = {cursor = page[1], scanned = #ids, raws = raws, over = {}, lies = {}, corrupt = {}, sound = {}}
  if not ids[1] then return found end
  local due, ends = redis.call('ZMSCORE', ready, unpack(ids)), redis.call('ZMSCORE', leases, unpack(ids))
  local function is(score, wanted) return tonumber(score or -1) == tonumber(wanted or -1) end
  for n, id in ipairs(ids) do
    local r = decode(id, raws[id])
    if redis.call('HEXISTS', quarantine, id) == 1 then
      if due[n] or ends[n] then found.lies[id] = false end
    elseif not r then
      table.insert(found.corrupt, id)
    else
      table.insert(found.sound, id)
      if r.state == 'L' and tonumber(r.lease) <= now then
        found.over[id] = r
      elseif not (is(due[n], r.state == 'R' and r.due) and is(ends[n], r.state == 'L' and r.lease)) then
        found.lies[id] = r
      end
    end
  end
  return found
end
