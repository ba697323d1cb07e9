-- A lease that is over: READY, due now; the attempt is kept, the owner is not.
local function end_lease(id, r)
  r.state, r.due, r.lease, r.owner = 'R', NOW, NONE, ''
  put(id, r)
end
-- Looks at the first ids of the leases index whose score is past. How many leases ended, how many were looked at.
local function expire(limit)
  local ids, ended = redis.call('ZRANGE', leases, '-inf', NOW, 'BYSCORE', 'LIMIT', 0, limit), 0
  if not ids[1] then return 0, 0 end
  load(ids)
  for _, id in ipairs(ids) do
    local r = record(id)
    if r and r.state == 'L' and tonumber(r.lease) <= now then
      end_lease(id, r)
      ended = ended + 1
    else
      mend(id, r)
    end
  end
  flush()
  return ended, #ids
end
