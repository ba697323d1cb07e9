-- plan: entries that a purge of one queue is to take go on its plan. Once that purge is recorded nothing is added any more.
-- KEYS[1] set the plan: 16 bytes for each entry · KEYS[2] zset the index of the audit log
-- ARGV[1] operation · ARGV[2] how long the plan is kept, ms · ARGV[3...] what goes on it (<= 1000)
-- Returns {how many are on it} · -2 the index holds another type · -3 a write is not allowed. An error changes nothing.
--include checks
--include record

local plan, index = unpack(KEYS)
local operation, keep = unpack(ARGV, 1, 2)

if not holds(index, 'zset') then return -2 end
if not (may('SADD', plan, 'm') and may('SREM', plan, 'm') and may('PEXPIRE', plan, 1)) then return -3 end
redis.call('SREM', plan, '')  -- changes nothing: a script that has written is not refused for memory any more
if not recorded(index, mark_of(operation, 'purge_all', '')) then
  redis.call('SADD', plan, unpack(ARGV, 3))
  redis.call('PEXPIRE', plan, keep)
end
return {redis.call('SCARD', plan)}
