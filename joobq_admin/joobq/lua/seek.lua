-- seek: entries next to a gap in the order of the dead set (score, then member by bytes). Reads only.
-- A gap is (score, prefix): below it lies all that has a lower score, or this score and a member below the prefix.
-- KEYS[1] zset the dead set
-- ARGV[1] score ('+inf' with a prefix above all members = the top) · ARGV[2] prefix
-- ARGV[3] 'older' the nearest below the gap, newest first · 'newer' the nearest above it, oldest first
--         'match' those of this score whose member begins with the prefix, from the least
-- ARGV[4] how many · ARGV[5] move the gap up by so many entries (for a prefix that had to be cut; below 0: down)
-- ARGV[6] no more entries are read once they hold so many bytes
-- Returns {entries below the gap, entries in all, member, score, member, score, ...}
local set, score, prefix, way, limit = KEYS[1], ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local most = tonumber(ARGV[6])
local size, byte, sub, min, max, floor = #prefix, string.byte, string.sub, math.min, math.max, math.floor
local function below(member)  -- by bytes: Lua's own < follows the locale
  for i = 1, min(#member, size), 16 do
    local j = min(i + 15, size)
    if sub(member, i, j) ~= sub(prefix, i, j) then
      for k = i, j do
        local a, b = byte(member, k), byte(prefix, k)
        if a ~= b then return a == nil or a < b end
      end
    end
  end
  return #member < size
end
local all = redis.call('ZCARD', set)
local low = redis.call('ZCOUNT', set, '-inf', '(' .. score)
if size > 0 then
  local high = low + redis.call('ZCOUNT', set, score, score)
  while low < high do
    local middle = floor((low + high) / 2)
    if below(redis.call('ZRANGE', set, middle, middle)[1]) then low = middle + 1 else high = middle end
  end
end
low = max(0, min(low + tonumber(ARGV[5]), all))

local answer, bytes, taken, step = {low, all}, 0, 0, way == 'match' and 2 or 8
local left = min(limit, way == 'older' and low or all - low)
while left > 0 and bytes < most do
  step = min(step, left)
  local rows
  if way == 'older' then
    local top = all - low + taken  -- ranks counted from above
    rows = redis.call('ZREVRANGE', set, top, top + step - 1, 'WITHSCORES')
  else
    rows = redis.call('ZRANGE', set, low + taken, low + taken + step - 1, 'WITHSCORES')
  end
  for i = 1, #rows, 2 do
    local member = rows[i]
    if way == 'match' and (sub(member, 1, size) ~= prefix or tonumber(rows[i + 1]) ~= tonumber(score)) then return answer end
    bytes = bytes + #member
    answer[#answer + 1] = member
    answer[#answer + 1] = rows[i + 1]
  end
  taken, left = taken + step, left - step
  step = max(1, min(step * 4, 50, floor((most - bytes) * taken / max(bytes, 1))))
end
return answer
