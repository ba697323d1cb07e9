-- One page of records, and of these the receipts whose last change is longer ago than `age`; nothing is changed.
local function receipts(cursor, count, age)
  local page, old, last = redis.call('HSCAN', records, cursor, 'COUNT', count), {}, now - age
  for i = 1, #page[2], 2 do
    local id = page[2][i]
    local r = decode(id, page[2][i + 1])
    if r and (r.state == 'C' or r.state == 'D') and tonumber(r.updated) < last
      and redis.call('HEXISTS', quarantine, id) == 0 then old[#old + 1] = id end
  end
  return page[1], #page[2] / 2, old
end
