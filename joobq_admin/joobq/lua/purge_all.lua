-- purge_all: the whole dead set goes for good, counts and all, in one step. Of one queue only the record is written here,
-- before the first entry of its plan goes.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue
-- KEYS[3] stream, KEYS[4] zset  the audit log and its index; leave out to record nothing
-- KEYS[5] hash the plan of one queue · KEYS[6...] sets its parts; leave both out for everything
-- With an audit log: ARGV[1] operation · ARGV[2] how many entries of one queue are about to go ('' = everything goes now)
--   · ARGV[3] how long its plan is kept from now on, ms · ARGV[4...] further fields of the record; of one queue ARGV[5] is
--   its name
-- Returns  {how many entries went, or are about to, 0} · {what was recorded, 1} done before by this operation, nothing goes
--   · {how many are planned, 2} not as many as was said, or of another queue: nothing is done
--   · -2 an audit key holds another type · -3 a write is not allowed · -7 the dead set's key holds another type.
--   An error changes nothing.
--include checks
--include record
--include parts

local set, counts, audit, index, plan = unpack(KEYS)
local parts = {unpack(KEYS, 6)}
local operation, planned, keep = unpack(ARGV, 1, 3)

local mark
if audit then
  if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
  mark = mark_of(operation, 'purge_all', '')
  local before = recorded(index, mark)
  if before then
    local id = string.sub(before, #mark + 1)
    local row = redis.call('XRANGE', audit, id, id)[1]
    for i = 1, row and #row[2] or 0, 2 do
      if row[2][i] == 'entries' then return {tonumber(row[2][i + 1]), 1} end
    end
    return {0, 1}
  end
end
if not holds(set, 'zset') then return -7 end
if plan and not (may('ZREM', set, 'm') and may('HINCRBY', counts, 'q', -1) and may('ZREM', index, 'm')
    and may_plan(plan, parts)) then return -3 end
if not plan and not (may('UNLINK', set) and may('UNLINK', counts)) then return -3 end
if audit and not may_record(audit, index) then return -3 end

local entries
if plan then
  redis.call('ZREM', index, '')  -- changes nothing; a server that takes no writes refuses it, a full one keeps the record then
  entries = left_on(parts)
  if entries ~= tonumber(planned) or redis.call('HGET', plan, 'queue') ~= ARGV[5] then return {entries, 2} end
  keep_for(keep, plan, parts)
else
  entries = redis.call('ZCARD', set)
  redis.call('UNLINK', set)
  redis.pcall('UNLINK', counts)
end
if audit then
  local id = record(audit, index, mark, '', '', 'action', 'purge_all', 'operation', operation, 'entries', entries,
    unpack(ARGV, 4))
  redis.pcall('ZADD', index, 0, 'a:purge_all\0' .. id)
end
return {entries, 0}
