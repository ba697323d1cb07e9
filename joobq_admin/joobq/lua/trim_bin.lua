-- trim_bin: purged entries that are too old leave the bin for good, oldest first, a few at a time.
-- KEYS[1] hash the bin, KEYS[2] zset its times
-- ARGV[1] how long an entry is kept, ms · ARGV[2] most entries a call (<= 1000)
-- ARGV[3] most bytes a call (the entry that passes it still goes)
-- Returns how many went. Call again while it is above 0 and there is time.
local bin, times = unpack(KEYS)
local keep, step, most = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local t = redis.call('TIME')
local before = string.format('(%d', t[1] * 1000 + math.floor(t[2] / 1000) - keep)
local rows, freed, gone = redis.call('ZRANGE', times, '-inf', before, 'BYSCORE', 'LIMIT', 0, step), 0, {}
for _, digest in ipairs(rows) do
  if freed >= most then break end
  freed = freed + redis.call('HSTRLEN', bin, digest)
  gone[#gone + 1] = digest
end
if #gone == 0 then return 0 end
redis.call('HDEL', bin, unpack(gone))  -- first: a user who may not do this leaves everything as it is
redis.call('HINCRBY', bin, 'bytes', -freed)
redis.call('ZREM', times, unpack(gone))
return #gone
