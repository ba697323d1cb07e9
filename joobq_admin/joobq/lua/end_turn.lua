-- end_turn: what one step of a repair cycle did is added up, and the next step begins where it came to.
--
-- KEYS[1] hash  the cycle, as take_turn made it
-- ARGV[1] operation · ARGV[2] turn · ARGV[3] where the next step begins, '' = the cycle is done · ARGV[4] ms it is kept
-- ARGV[5...] what was done: the name of a field and a number
-- Returns the fields of the cycle, name and value. A step whose turn was over moves nothing on: what it did counts. When
--   another cycle began since, nothing is changed.

local key, clock = KEYS[1], redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local operation, turn, cursor, kept = unpack(ARGV, 1, 4)

redis.call('HDEL', key, '')  -- changes nothing: a replica, which may lag, refuses it
if redis.call('HGET', key, 'operation') == operation then
  for i = 5, #ARGV, 2 do redis.call('HINCRBY', key, ARGV[i], ARGV[i + 1]) end
  if redis.call('HGET', key, 'turn') == turn then
    redis.call('HSET', key, 'cursor', cursor, 'until', 0, 'stepped', now, 'ended', cursor == '' and now or '')
  end
  redis.call('PEXPIRE', key, kept)
end
return redis.call('HGETALL', key)
