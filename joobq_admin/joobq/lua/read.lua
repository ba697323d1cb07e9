-- read: how many entries there are and what the counts say, in one moment. Changes nothing unless asked to distrust.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue · KEYS[3] string the marker of proved counts
-- ARGV[1] a marker that was found to be wrong, left out in a plain read: goes if it still stands
-- Returns {size of the set, 1 the counts are a hash or none · 0 another type, marker ('' = none), seconds and microseconds
--   of the server's clock, queue, its count, queue, its count, ...}
local function of_type(key, kind)
  local found = redis.call('TYPE', key).ok
  return found == kind, found == kind or found == 'none'
end
local marked = of_type(KEYS[3], 'string') and redis.call('GET', KEYS[3]) or ''
if ARGV[1] and marked == ARGV[1] then
  redis.call('DEL', KEYS[3])
  marked = ''
end
local hash, sound = of_type(KEYS[2], 'hash')
local now = redis.call('TIME')
local reply = {redis.call('ZCARD', KEYS[1]), sound and 1 or 0, marked, now[1], now[2]}
local counts = hash and redis.call('HGETALL', KEYS[2]) or {}
for i = 1, #counts do reply[i + 5] = counts[i] end
return reply
