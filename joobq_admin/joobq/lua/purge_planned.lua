-- purge_planned: some entries of one queue go for good, those of them that are on the plan of its purge, and off the plan.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue · KEYS[3] hash the plan · KEYS[4...] sets its parts
-- ARGV[1] the queue ('' = unknown): its field in the counts · ARGV[2] how long the plan is kept from now on, ms
-- ARGV[3] '1' = the dead set was looked through to its end: what is left on the plan was not there any more
-- ARGV[4...] what stands on the plan for an entry, and its member, in turn (<= 1000)
-- Returns {how many went, how many are left on the plan} · -3 a write is not allowed · -7 the dead set's key holds another
--   type. An error changes nothing. A plan of another queue, or that is not kept any more, takes nothing.
--include checks
--include parts

local set, counts, plan = unpack(KEYS)
local parts = {unpack(KEYS, 4)}
local queue, keep, over = unpack(ARGV, 1, 3)

if not holds(set, 'zset') then return -7 end
if not (may('ZREM', set, 'm') and may('HINCRBY', counts, 'q', -1) and may_plan(plan, parts)) then return -3 end
redis.call('HDEL', plan, '')  -- changes nothing, but a replica refuses it, and a full server refuses nothing from here on
if redis.call('HGET', plan, 'queue') ~= queue then return {0, 0} end
local gone = 0
for i = 4, #ARGV, 2 do
  local part = part_of(parts, ARGV[i])
  if redis.call('SISMEMBER', part, ARGV[i]) == 1 and redis.call('ZREM', set, ARGV[i + 1]) == 1 then
    redis.call('SREM', part, ARGV[i])
    gone = gone + 1
  end
end
if gone > 0 then redis.pcall('HINCRBY', counts, queue, -gone) end
local left = left_on(parts)
if left == 0 or over == '1' then redis.call('HSET', plan, 'over', 1) end
keep_for(keep, plan, parts)
return {gone, left}
