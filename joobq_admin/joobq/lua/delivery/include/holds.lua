-- Does the stored record name this claim? Renewals change its other bytes only.
local function holds(r, admitted, attempt, owner)
  return r and r.owner == owner and tonumber(r.attempt) == tonumber(attempt)
    and tonumber(sub(r.birth, 1, 15)) == tonumber(admitted)
end
