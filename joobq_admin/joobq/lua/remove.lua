-- remove (purge): one dead letter leaves the dead set: into the bin, or for good. For good is without any copy: what an
-- earlier purge of the same bytes has left in the bin goes in the same step.
--
-- KEYS[1] zset    the dead set
-- KEYS[2] hash    entries per queue
-- KEYS[3] stream, KEYS[4] zset  the audit log and its index; leave out to record nothing
-- KEYS[5] hash, KEYS[6] zset    the bin and its times; leave out where there is none
-- ARGV[1] the member, byte for byte   ARGV[2] its queue, read as cjson reads it ('' = unknown): its field in the counts
-- With an audit log: ARGV[3] operation, ARGV[4] digest, ARGV[5] jid as it is indexed ('' = none),
--   ARGV[6] who and why, one line of JSON, kept with a binned entry; '' = for good, ARGV[7] bytes that the bin may hold,
--   ARGV[8...] further fields of the record
-- The bin: field <digest> = "<score> <purged at, ms> <ARGV[6]>\n<member>", field "bytes" = length of all these values;
--   times: member <digest>, score = the time in the id of the record, by which `copies` knows whose copy it is.
-- Returns  1 done · 2 done before by this operation · 0 not in the set · -2 an audit key holds another type
--   · -3 a write is not allowed · -4 a key of the bin holds another type or its field "bytes" no number · -5 the bin is full
--   · -7 the dead set's key holds another type. Only 1 changes anything; an error changes nothing.
--include checks
--include record
--include times

local set, counts, audit, index, bin, times = unpack(KEYS)
local member, queue, operation, digest, jid, note, room = unpack(ARGV, 1, 7)
local keeps = bin and note ~= ''

local mark
if audit then
  if not (holds(audit, 'stream') and holds(index, 'zset')) then return -2 end
  mark = mark_of(operation, 'purge', digest)
  if recorded(index, mark) then return 2 end
end
if keeps and not (holds(bin, 'hash') and holds(times, 'zset')) then return -4 end
if not holds(set, 'zset') then return -7 end
local score = redis.call('ZSCORE', set, member)
if not score then
  redis.call('ZREM', set, member)  -- changes nothing, but a replica refuses it: one that lags must not say "gone"
  return 0
end
if not (may('ZREM', set, 'm') and may('ZADD', set, 0, 'm') and may('HINCRBY', counts, 'q', -1)) then return -3 end
if audit and not may_record(audit, index) then return -3 end
local before, now, kept = bin and holds(bin, 'hash') and redis.call('HSTRLEN', bin, digest) or 0
if before > 0 and not (may('HDEL', bin, 'f') and may('HINCRBY', bin, 'f', -1) and may('ZREM', times, 'm')) then return -3 end
if keeps then
  if not (may('HSET', bin, 'f', 'v') and may('HINCRBY', bin, 'f', 1) and may('ZADD', times, 0, 'm')) then return -3 end
  local held = tonumber(redis.call('HGET', bin, 'bytes') or 0)
  if not held then return -4 end
  now = now_ms()
  kept = string.format('%s %d %s\n', score, now, note) .. member
  if held - before + #kept > tonumber(room) then return -5 end
end

redis.call('ZREM', set, member)  -- first: a script that has written is not refused for memory any more
if keeps then
  local put = redis.pcall('HSET', bin, digest, kept)
  if type(put) ~= 'number' then
    redis.call('ZADD', set, score, member)
    return put
  end
  redis.pcall('HINCRBY', bin, 'bytes', #kept - before)
elseif before > 0 then
  redis.call('HDEL', bin, digest)
  redis.pcall('ZREM', times, digest)
  redis.pcall('HINCRBY', bin, 'bytes', -before)
end
redis.pcall('HINCRBY', counts, queue, -1)
if audit then
  local emptied = not keeps and before > 0 and 1 or 0
  local id = record(audit, index, mark, digest, jid, 'action', 'purge', 'operation', operation, 'digest', digest,
    'jid', jid, 'queue', queue, 'score', score, 'bin', keeps and 1 or 0, 'emptied', emptied, unpack(ARGV, 8))
  if keeps then redis.pcall('ZADD', times, time_of(id, now) or now, digest) end
end
return 1
