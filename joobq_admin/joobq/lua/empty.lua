-- empty: one purged entry leaves the bin for good.
--
-- KEYS[1] stream, KEYS[2] zset  the audit log and its index
-- KEYS[3] hash, KEYS[4] zset    the bin and its times
-- ARGV[1] operation, ARGV[2] digest, ARGV[3] jid as it is indexed ('' = none), ARGV[4...] further fields of the record
-- Returns  1 done · 2 done before by this operation · 0 not in the bin · -2 an audit key holds another type
--   · -3 a write is not allowed · -4 a key of the bin holds another type, or the value there is not ours.
--   Only 1 changes anything; an error changes nothing.
--include queue_of
--include checks
--include record

local audit, index, bin, times = unpack(KEYS)
local operation, digest, jid = unpack(ARGV, 1, 3)

if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
local mark = mark_of(operation, 'empty', digest)
if recorded(index, mark) then return 2 end
if not (holds(bin, 'hash') and holds(times, 'zset')) then return -4 end
local kept = redis.call('HGET', bin, digest)
if not kept then
  redis.call('HDEL', bin, digest)  -- changes nothing, but a replica refuses it: one that lags must not say "gone"
  return 0
end
local head = string.find(kept, '\n', 1, true)
local score = head and string.match(kept, '^(%S+) %d+ ')
if not score then return -4 end
if not (may('HDEL', bin, 'f') and may('HINCRBY', bin, 'f', 1) and may('ZREM', times, 'm') and may_record(audit, index)) then
  return -3
end

redis.call('HDEL', bin, digest)
redis.pcall('ZREM', times, digest)
redis.pcall('HINCRBY', bin, 'bytes', -#kept)
record(audit, index, mark, digest, jid, 'action', 'empty', 'operation', operation, 'digest', digest,
  'jid', jid, 'queue', queue_of(string.sub(kept, head + 1)), 'score', score, unpack(ARGV, 4))
return 1
