-- unredacted: one dead letter's exact bytes may leave: it is in the dead set now, and a record says who has them and why.
-- A change is never given up for its record; this is nothing without one: when it cannot be written, the answer is no.
--
-- KEYS[1] zset    the dead set
-- KEYS[2] stream, KEYS[3] zset  the audit log and its index
-- ARGV[1] the member, byte for byte   ARGV[2] its queue, read as cjson reads it ('' = unknown)
-- ARGV[3] operation, ARGV[4] digest, ARGV[5] jid as it is indexed ('' = none), ARGV[6] who, ARGV[7...] further fields of the record
-- Returns  1 recorded · 2 recorded before, by this operation and of the same person · 0 not in the set
--   · -2 an audit key holds another type, or takes no more · -3 a write is not allowed
--   · -7 the dead set's key holds another type. Only 1 changes anything: it adds the record. An error changes nothing.
--include checks
--include record

local set, audit, index = unpack(KEYS)
local member, queue, operation, digest, jid, who = unpack(ARGV, 1, 6)

if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
if not holds(set, 'zset') then return -7 end
local score = redis.call('ZSCORE', set, member)
if not score then
  redis.call('ZREM', set, member)  -- changes nothing, but a replica refuses it: one that lags must not say "gone"
  return 0
end
local mark = mark_of(operation, 'unredacted', digest)
local before = string.match(recorded(index, mark) or '', '%z(%d+%-%d+)$')
local row = before and redis.call('XRANGE', audit, before, before)[1]
for i = 1, row and #row[2] or 0, 2 do
  if row[2][i] == 'by' and row[2][i + 1] == who then return 2 end  -- another's record says nothing of this person
end
if not may_record(audit, index) then return -3 end

local id = redis.pcall('XADD', audit, '*', 'action', 'unredacted', 'operation', operation, 'digest', digest,
  'jid', jid, 'queue', queue, 'score', score, 'by', who, unpack(ARGV, 7))
if type(id) ~= 'string' then return string.find(id.err, '^ERR') and -2 or id end
found_by(index, id, mark, digest, jid)
return 1
