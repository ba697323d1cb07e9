-- purge_all: the whole dead set goes for good, counts and all, in one step. Of one queue only the record is written here,
-- before its first entry goes.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue
-- KEYS[3] stream, KEYS[4] zset  the audit log and its index; leave out to record nothing
-- KEYS[5] set  what is planned of the queue; leave out where nothing is
-- With an audit log: ARGV[1] operation, ARGV[2] how many entries of one queue are about to go ('' = everything goes now),
--   ARGV[3...] further fields of the record
-- Returns  {how many entries went, or are about to, 0} · {what was recorded, 1} done before by this operation, nothing goes
--   · {how many are planned, 2} not as many as was said, nothing is done
--   · -2 an audit key holds another type · -3 a write is not allowed · -7 the dead set's key holds another type.
--   An error changes nothing.
--include checks
--include record

local set, counts, audit, index, plan = unpack(KEYS)
local operation, planned = unpack(ARGV, 1, 2)
local everything = not planned or planned == ''

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
if everything and not (may('UNLINK', set) and may('UNLINK', counts)) then return -3 end
if not everything and not (may('ZSCORE', set, 'm') and may('ZREM', set, 'm') and may('ZADD', set, 0, 'm')
    and may('HINCRBY', counts, 'q', -1) and may('ZREM', index, 'm')) then return -3 end
if audit and not may_record(audit, index) then return -3 end

local entries = everything and redis.call('ZCARD', set) or tonumber(planned)
if everything then
  redis.call('UNLINK', set)
  redis.pcall('UNLINK', counts)
else
  redis.call('ZREM', index, '')  -- changes nothing; a server that takes no writes refuses it, a full one keeps the record then
  if plan and redis.call('SCARD', plan) ~= entries then return {redis.call('SCARD', plan), 2} end
end
if audit then
  local id = record(audit, index, mark, '', '', 'action', 'purge_all', 'operation', operation, 'entries', entries,
    unpack(ARGV, 3))
  redis.pcall('ZADD', index, 0, 'a:purge_all\0' .. id)
end
return {entries, 0}
