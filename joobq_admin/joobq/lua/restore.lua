-- restore (Undo): one entry comes back out of the bin, with exactly its bytes and its score, and is counted again.
-- Bytes that are in the dead set already stay there as they are, uncounted; the copy in the bin goes.
--
-- KEYS[1] zset    the dead set
-- KEYS[2] hash    entries per queue
-- KEYS[3] stream, KEYS[4] zset  the audit log and its index
-- KEYS[5] hash, KEYS[6] zset    the bin and its times
-- ARGV[1] operation, ARGV[2] digest, ARGV[3] jid as it is indexed ('' = none), ARGV[4...] further fields of the record
-- Returns  1 done · 2 done before by this operation · 3 was in the set already · 0 not in the bin · -2 an audit key holds
--   another type · -3 a write is not allowed · -4 a key of the bin holds another type, or the value there is not ours
--   · -7 the dead set's key holds another type. 1 and 3 change something; the others and an error do not.
--include queue_of
--include checks
--include record

local set, counts, audit, index, bin, times = unpack(KEYS)
local operation, digest, jid = unpack(ARGV, 1, 3)

if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
local mark = mark_of(operation, 'restore', digest)
if recorded(index, mark) then return 2 end
if not (holds(bin, 'hash') and holds(times, 'zset')) then return -4 end
if not holds(set, 'zset') then return -7 end
local kept = redis.call('HGET', bin, digest)
if not kept then
  redis.call('HDEL', bin, digest)  -- changes nothing, but a replica refuses it: one that lags must not say "gone"
  return 0
end
local head = string.find(kept, '\n', 1, true)
local score = head and string.match(kept, '^(%S+) %d+ ')
if not score or not tonumber(score) then return -4 end
local member = string.sub(kept, head + 1)
local there = redis.call('ZSCORE', set, member)
if not (may('HDEL', bin, 'f') and may('HSET', bin, 'f', 'v') and may('HINCRBY', bin, 'f', 1) and may('ZREM', times, 'm')
    and may('ZADD', set, 0, 'm') and may('HINCRBY', counts, 'q', 1) and may_record(audit, index)) then return -3 end
local queue = queue_of(member)

redis.call('HDEL', bin, digest)  -- first: a script that has written is not refused for memory any more
if not there then
  local added = redis.pcall('ZADD', set, score, member)
  if type(added) ~= 'number' then
    redis.call('HSET', bin, digest, kept)
    return string.find(added.err, 'valid float', 1, true) and -4 or added
  end
  redis.pcall('HINCRBY', counts, queue, 1)
end
redis.pcall('ZREM', times, digest)
redis.pcall('HINCRBY', bin, 'bytes', -#kept)
record(audit, index, mark, digest, jid, 'action', 'restore', 'operation', operation, 'digest', digest,
  'jid', jid, 'queue', queue, 'score', there or score, 'there', there and 1 or 0, unpack(ARGV, 4))
return there and 3 or 1
