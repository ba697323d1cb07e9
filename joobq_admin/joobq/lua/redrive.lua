-- redrive: one dead letter leaves the dead set and goes to the front of its queue.
-- Every check comes before the first write; what was removed is put back if it cannot be pushed.
--
-- KEYS[1] zset    the dead set
-- KEYS[2] list    the queue, by its bare name; that name is also its field in the counts
-- KEYS[3] string  the job's retry lock
-- KEYS[4] hash    entries per queue
-- KEYS[5] stream, KEYS[6] zset  the audit log and its index; leave both out to record nothing
-- ARGV[1] the member, byte for byte        ARGV[2] the bytes that a worker is to read
-- With an audit log: ARGV[3] operation, ARGV[4] digest, ARGV[5] jid as it is indexed ('' = none),
--   ARGV[6] the job, by one name for all spellings of its jid ('' = none),
--   ARGV[7...] further fields of the record as name, value, name, value
-- Returns  1 done · 2 done before by this operation · 0 not in the set · -1 the queue's key holds no list
--   · -2 an audit key holds another type · -3 a write is not allowed · -6 this operation has sent another entry of the job
--   · -7 the dead set's key holds another type. Only 1 changes anything; an error changes nothing.
--include checks
--include record

local set, list, lock, counts, audit, index = unpack(KEYS)
local member, bytes, operation, digest, jid, job = unpack(ARGV, 1, 6)

local mark, sent
if audit then
  if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
  mark = mark_of(operation, 'redrive', digest)
  if recorded(index, mark) then return 2 end
  sent = 's:' .. operation .. '\0' .. job .. '\0'
  if job ~= '' and recorded(index, sent) then return -6 end
end
if not holds(list, 'list') then return -1 end
if not holds(set, 'zset') then return -7 end
local score = redis.call('ZSCORE', set, member)
if not score then
  redis.call('ZREM', set, member)  -- changes nothing, but a replica refuses it: one that lags must not say "gone"
  return 0
end
if not (may('ZREM', set, 'm') and may('ZADD', set, 0, 'm') and may('RPUSH', list, 'm')
    and may('HINCRBY', counts, 'q', -1) and may('DEL', lock)) then return -3 end
if audit and not may_record(audit, index) then return -3 end

redis.call('ZREM', set, member)  -- first: a script that has written is not refused for memory any more
local pushed = redis.pcall('RPUSH', list, bytes)
if type(pushed) ~= 'number' then
  redis.call('ZADD', set, score, member)
  return pushed
end
redis.pcall('HINCRBY', counts, list, -1)
redis.pcall('DEL', lock)
if audit then
  local id = record(audit, index, mark, digest, jid, 'action', 'redrive', 'operation', operation, 'digest', digest,
    'jid', jid, 'job', job, 'queue', list, 'score', score, unpack(ARGV, 7))
  if job ~= '' then redis.pcall('ZADD', index, 0, sent .. id) end
end
return 1
