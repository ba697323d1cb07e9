-- recount: reads a small set whole and, with a marker, puts its counts into the hash as proved.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue · KEYS[3] string the marker of proved counts
-- ARGV[1] the new marker; '' writes nothing, so that a user without write rights may ask (EVALSHA_RO)
-- ARGV[2] entries, ARGV[3] bytes: a larger set is not read to its end, since Redis serves nobody meanwhile
-- Returns {seconds and microseconds of the server's clock, queue, its count, queue, its count, ...};
--   {} = the set is larger, nothing was written.
--include queue_of
local size, room, counts, reply = redis.call('ZCARD', KEYS[1]), tonumber(ARGV[3]), {}, redis.call('TIME')
if size > tonumber(ARGV[2]) then return {} end
for at = 0, size - 1, 20 do
  for _, member in ipairs(redis.call('ZRANGE', KEYS[1], at, at + 19)) do
    room = room - #member
    if room < 0 then return {} end
    local queue = queue_of(member)
    counts[queue] = (counts[queue] or 0) + 1
  end
end
for queue, count in pairs(counts) do
  reply[#reply + 1] = queue
  reply[#reply + 1] = count
end
if ARGV[1] ~= '' then
  redis.call('DEL', KEYS[2])
  for i = 3, #reply, 200 do redis.call('HSET', KEYS[2], unpack(reply, i, math.min(i + 199, #reply))) end
  redis.call('SET', KEYS[3], ARGV[1])
end
return reply
