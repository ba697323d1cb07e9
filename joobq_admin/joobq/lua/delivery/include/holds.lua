-- Does the stored record name this claim? Renewals change its other bytes only.
local function holds(r, admitted, attempt, owner)
  return r and tonumber(r.admitted) == tonumber(admitted) and tonumber(r.attempt) == tonumber(attempt) and r.owner == owner
end
