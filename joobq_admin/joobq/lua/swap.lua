-- swap: puts counts into the hash unless it says the same already. Meant for the EXEC that proves them.
-- KEYS[1] hash entries per queue · KEYS[2] string the marker of proved counts
-- ARGV[1] the new marker when nothing has changed since the first byte was read; '' = less is known: the marker goes first
-- ARGV[2...] queue, its count, queue, its count, ...
-- Returns 1 the hash said the same · 0 replaced. The marker of a hash that was not touched stays.
local kind, have, want = redis.call('TYPE', KEYS[1]).ok, {}, {}
local same = kind == 'hash' or kind == 'none'
local fields = same and redis.call('HGETALL', KEYS[1]) or {}
for i = 1, #fields, 2 do
  if fields[i + 1] ~= '0' then have[fields[i]] = fields[i + 1] end
end
for i = 2, #ARGV, 2 do
  want[ARGV[i]] = ARGV[i + 1]
  if have[ARGV[i]] ~= ARGV[i + 1] then same = false end
end
for queue in pairs(have) do
  if not want[queue] then same = false end
end
if not same then
  if ARGV[1] == '' then redis.call('DEL', KEYS[2]) end
  redis.call('DEL', KEYS[1])
  for i = 2, #ARGV, 200 do redis.call('HSET', KEYS[1], unpack(ARGV, i, math.min(i + 199, #ARGV))) end
end
if ARGV[1] ~= '' then redis.call('SET', KEYS[2], ARGV[1]) end
return same and 1 or 0
