-- Is this record in quarantine, and are these the bytes that are stored now? "+" before each, "-" = there is none.
local function reviewed(id, header, payload)
  local raw, body = redis.call('HGET', records, id), redis.call('HGET', payloads, id)
  if redis.call('HEXISTS', quarantine, id) == 0 then return 'MISSING' end
  if (raw and '+' .. raw or '-') ~= header or (body and '+' .. body or '-') ~= payload then return 'CHANGED' end
  return nil, raw
end
