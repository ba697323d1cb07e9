-- The six keys of a ledger, this moment by Redis's clock, and a record's header (its bytes: delivery/record.py).
local records, payloads, ready, leases, quarantine, gate = unpack(KEYS)
local sub, find, format, sha1hex = string.sub, string.find, string.format, redis.sha1hex
local function ms(number) return format('%015d', number) end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local NOW, NONE = ms(now), ms(0)

local TIME, COUNT = string.rep('%d', 15), string.rep('%d', 10)
local BIRTH = '^' .. TIME .. ' ' .. COUNT .. ' '
local LIFE = table.concat({'^ [RLCD]', TIME, TIME, COUNT, TIME, '[-%x]'}, ' ')

-- Fields stay text, of fixed width; `birth` is what never changes: ADMITTED, SIZE, DIGEST.
local function encode(id, r)
  local body = r.birth .. ' ' .. r.state .. ' ' .. r.due .. ' ' .. r.lease .. ' ' .. r.attempt .. ' ' .. r.updated
    .. ' ' .. r.trace .. ' ' .. r.owner
  return 'jl1 ' .. sha1hex(#id .. ':' .. id .. body) .. ' ' .. body
end

local function newborn(payload, digest, state, due, trace, owner)
  return {birth = NOW .. ' ' .. format('%010d', #payload) .. ' ' .. digest, state = state, due = due, lease = NONE,
    attempt = '0000000000', trace = trace, owner = owner}
end

local function decode(id, raw)  -- nil = corrupt
  if sub(raw, 1, 4) ~= 'jl1 ' or sub(raw, 45, 45) ~= ' ' or sub(raw, 5, 44) ~= sha1hex(#id .. ':' .. id .. sub(raw, 46))
    or not (find(raw, BIRTH, 46) and find(raw, LIFE, 137)) then return nil end
  local birth, state, due, lease, attempt, updated = struct.unpack('c91xc1xc15xc15xc10xc15', raw, 46)
  local tail = 199 + (sub(raw, 199, 199) == '-' and 1 or 55)
  if sub(raw, tail, tail) ~= ' ' or (lease == NONE) == (state == 'L') then return nil end
  return {birth = birth, size = tonumber(sub(birth, 17, 26)), state = state, due = due, lease = lease,
    attempt = attempt, updated = updated, trace = sub(raw, 199, tail - 1), owner = sub(raw, tail + 1)}
end
