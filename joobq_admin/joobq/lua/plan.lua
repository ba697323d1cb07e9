-- plan: entries that a purge of one queue is to take go on its plan. Once that purge is recorded nothing is added any more,
-- and never to a plan of another queue.
-- KEYS[1] zset the index of the audit log · KEYS[2] hash the plan · KEYS[3...] sets its parts
-- ARGV[1] operation · ARGV[2] the queue · ARGV[3] how long the plan is kept, ms
-- ARGV[4...] what stands on it for each entry (<= 1000)
-- Returns {how many are on it} · -2 the index holds another type · -3 a write is not allowed. An error changes nothing.
--include checks
--include record
--include parts

local index, plan = unpack(KEYS)
local parts = {unpack(KEYS, 3)}
local operation, queue, keep = unpack(ARGV, 1, 3)

if not holds(index, 'zset') then return -2 end
if not may_plan(plan, parts) then return -3 end
redis.call('HDEL', plan, '')  -- changes nothing: a script that has written is not refused for memory any more
local of = redis.call('HGET', plan, 'queue')
if (not of or of == queue) and not recorded(index, mark_of(operation, 'purge_all', '')) then
  for _, part in ipairs(of and {} or parts) do redis.call('UNLINK', part) end
  redis.call('HSET', plan, 'queue', queue)
  for i = 4, #ARGV do
    local part = part_of(parts, ARGV[i])
    redis.call('SADD', part, ARGV[i])
  end
  keep_for(keep, plan, parts)
end
return {left_on(parts)}
