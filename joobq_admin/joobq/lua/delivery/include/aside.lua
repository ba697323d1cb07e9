-- A corrupt record is copied as evidence, `len(header):len(payload) or -:` header payload, and leaves both indexes.
local function set_aside(id, raw, payload)
  redis.call('HSET', quarantine, id, #raw .. ':' .. (payload and #payload or '-') .. ':' .. raw .. (payload or ''))
  staged[id] = false
end
-- An id that stands in an index and should not: its record, `r`, says where it belongs. One that is corrupt is set aside;
-- what is in quarantine, or has no record, belongs nowhere.
local function mend(id, r)
  if seen[id] and not r and not aside[id] then
    set_aside(id, seen[id], redis.call('HGET', payloads, id))
  else
    staged[id] = r or false
  end
end
