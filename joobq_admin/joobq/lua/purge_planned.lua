-- purge_planned: some entries of one queue go for good, those of them that are on the plan of its purge, and off the plan.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue · KEYS[3] set the plan
-- ARGV[1] the queue ('' = unknown): its field in the counts · ARGV[2] how long the plan is kept from now on, ms
-- ARGV[3] '1' = the dead set was looked through to its end: what is left on the plan was not there any more
-- ARGV[4...] what stands on the plan for an entry, and its member, in turn (<= 1000)
-- Returns {how many went, how many are left on the plan} · -3 a write is not allowed. An error changes nothing.
--   A plan that is over holds 'over' besides, so it is there also when everything went.
--include checks

local set, counts, plan = unpack(KEYS)
local queue, keep, over = unpack(ARGV, 1, 3)

if not (may('ZREM', set, 'm') and may('HINCRBY', counts, 'q', -1) and may('SADD', plan, 'm') and may('SREM', plan, 'm')
    and may('PEXPIRE', plan, 1)) then return -3 end
redis.call('SREM', plan, '')  -- changes nothing, but a replica refuses it, and a full server refuses nothing from here on
local kept, gone = redis.call('EXISTS', plan), 0
for i = 4, #ARGV, 2 do
  if redis.call('SISMEMBER', plan, ARGV[i]) == 1 and redis.call('ZREM', set, ARGV[i + 1]) == 1 then
    redis.call('SREM', plan, ARGV[i])
    gone = gone + 1
  end
end
if gone > 0 then redis.pcall('HINCRBY', counts, queue, -gone) end
local left = redis.call('SCARD', plan) - redis.call('SISMEMBER', plan, 'over')
if kept == 1 and (left == 0 or over == '1') then redis.call('SADD', plan, 'over') end
redis.call('PEXPIRE', plan, keep)
return {gone, left}
