-- One script is one unit of work: headers are read once (load), transitions happen in order on that copy (put), and all
-- is written once at the end (flush): payloads, headers, then the indexes, which follow from the headers. Redis rolls
-- nothing back: when an index takes no entry, the records stand, and repair mends it.
local seen, aside, bodies, headers, staged = {}, {}, {}, {}, {}
local function load(ids)
  local raws, any_aside = redis.call('HMGET', records, unpack(ids)), redis.call('EXISTS', quarantine) == 1
  for i, id in ipairs(ids) do
    seen[id], aside[id] = raws[i], any_aside and redis.call('HEXISTS', quarantine, id) == 1
  end
end
-- What stands under an id that was loaded; nil when that is nothing, or corrupt, or in quarantine: no transition moves
-- those.
local function record(id)
  return not aside[id] and seen[id] and decode(id, seen[id]) or nil
end
local function put(id, r)
  r.updated = NOW
  local raw = encode(id, r)
  seen[id], staged[id] = raw, r
  headers[#headers + 1] = id
  headers[#headers + 1] = raw
  return raw
end
-- staged[id] = a record: the indexes are to say what it says; false: neither is to hold the id.
local function flush()
  if bodies[1] then redis.call('HSET', payloads, unpack(bodies)) end
  if headers[1] then redis.call('HSET', records, unpack(headers)) end
  local unready, unleased, due, ends = {}, {}, {}, {}
  for id, r in pairs(staged) do
    local state = r and r.state
    if state == 'R' then due[#due + 1] = r.due due[#due + 1] = id else unready[#unready + 1] = id end
    if state == 'L' then ends[#ends + 1] = r.lease ends[#ends + 1] = id else unleased[#unleased + 1] = id end
  end
  if unready[1] then redis.call('ZREM', ready, unpack(unready)) end
  if unleased[1] then redis.call('ZREM', leases, unpack(unleased)) end
  if due[1] then redis.call('ZADD', ready, unpack(due)) end
  if ends[1] then redis.call('ZADD', leases, unpack(ends)) end
  bodies, headers, staged = {}, {}, {}
end
