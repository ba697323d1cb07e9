-- note: what was done elsewhere is recorded after it was done: a ledger may lie in another slot of a cluster.
--
-- KEYS[1] stream, KEYS[2] zset  the audit log and its index
-- ARGV[1] operation, ARGV[2] action, ARGV[3] digest ('' = of no bytes), ARGV[4...] further fields of the record
-- Returns  1 recorded · 2 recorded before, by this operation · -2 an audit key holds another type, or takes no more
--   · -3 a write is not allowed. Only 1 changes anything: it adds the record. An error changes nothing.
--include checks
--include record

local audit, index = unpack(KEYS)
local operation, action, digest = unpack(ARGV, 1, 3)

if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
local mark = mark_of(operation, action, digest)
redis.call('ZREM', index, '')  -- changes nothing: a replica refuses it, which may lag; a full server keeps the record then
if recorded(index, mark) then return 2 end
if not may_record(audit, index) then return -3 end

local id = redis.pcall('XADD', audit, '*', 'action', action, 'operation', operation, 'digest', digest, unpack(ARGV, 4))
if type(id) ~= 'string' then return string.find(id.err, '^ERR') and -2 or id end
found_by(index, id, mark, digest, '')
return 1
