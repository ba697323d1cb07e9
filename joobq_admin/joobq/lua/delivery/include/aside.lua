-- A corrupt record is copied as evidence, `len(header):len(payload) or -:` header payload, and leaves both indexes.
local function set_aside(id, raw, payload)
  redis.call('HSET', quarantine, id, #raw .. ':' .. (payload and #payload or '-') .. ':' .. raw .. (payload or ''))
  staged[id] = false
end
