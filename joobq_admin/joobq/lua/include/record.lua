-- The audit log: a stream of records and a zset that finds them, with members (all of score 0, by bytes)
-- o:<operation>\0<action>\0<digest>\0<id> · d:<digest>\0<id> · j:<jid>\0<id> · s:<operation>\0<job that was sent>\0<id>
-- a:purge_all\0<id>: one record stands for entries of any digest and job
local function mark_of(operation, action, digest)
  return 'o:' .. operation .. '\0' .. action .. '\0' .. digest .. '\0'
end
local function recorded(index, mark)
  return redis.call('ZRANGE', index, '[' .. mark, '(' .. mark .. ':', 'BYLEX', 'LIMIT', 0, 1)[1]
end
local function may_record(audit, index)
  return may('XADD', audit, '*', 'f', 'v') and may('ZADD', index, 0, 'm')
end
local function found_by(index, id, mark, digest, jid)
  redis.pcall('ZADD', index, 0, mark .. id)
  if digest ~= '' then redis.pcall('ZADD', index, 0, 'd:' .. digest .. '\0' .. id) end
  if jid ~= '' then redis.pcall('ZADD', index, 0, 'j:' .. jid .. '\0' .. id) end
end
local function record(audit, index, mark, digest, jid, ...)
  local id = redis.pcall('XADD', audit, '*', ...)
  if type(id) ~= 'string' then id = '0-0' end  -- a stream that takes no more: the operation still counts as done
  found_by(index, id, mark, digest, jid)
  return id
end
