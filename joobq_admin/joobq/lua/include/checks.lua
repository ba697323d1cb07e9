-- A script that fails midway is not rolled back: types and rights are asked before the first write.
local function holds(key, kind)
  local found = redis.call('TYPE', key).ok
  return found == kind or found == 'none'
end
local function may(...)
  return not redis.acl_check_cmd or redis.acl_check_cmd(...)
end
