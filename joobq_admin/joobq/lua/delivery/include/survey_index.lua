-- One page of an index, and which of its entries no record stands behind; nothing is changed. Of those that have one, the
-- page of their records tells whether they lie.
local function survey_index(index, cursor, count)
  local page, ids, ghosts = redis.call('ZSCAN', index, cursor, 'COUNT', count), {}, {}
  for i = 1, #page[2], 2 do ids[#ids + 1] = page[2][i] end
  local raws = ids[1] and redis.call('HMGET', records, unpack(ids)) or {}
  for n, id in ipairs(ids) do
    if not raws[n] then ghosts[#ghosts + 1] = id end
  end
  return page[1], #ids, ghosts
end
