-- The plan of a purge: a hash, of which queue it is, and 256 sets of what stands for its entries, 16 bytes of the digest of
-- each; the first of them says in which. One set of a million would stall Redis when it ends: these are small, and end one
-- after the other. The hash ends first, and without it they are no plan.
local function may_plan(plan, parts)
  local part = parts[1]
  return may('HSET', plan, 'f', 'v') and may('HDEL', plan, 'f') and may('PEXPIRE', plan, 1) and may('UNLINK', part)
    and may('SADD', part, 'm') and may('SREM', part, 'm') and may('SISMEMBER', part, 'm')
end
local function part_of(parts, planned)
  return parts[string.byte(planned) + 1]
end
local function left_on(parts)
  local left = 0
  for _, part in ipairs(parts) do left = left + redis.call('SCARD', part) end
  return left
end
local function keep_for(ms, plan, parts)
  redis.call('PEXPIRE', plan, ms)
  for i, part in ipairs(parts) do redis.call('PEXPIRE', part, ms + 100 * i) end
end
