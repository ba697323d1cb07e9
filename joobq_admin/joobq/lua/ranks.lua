-- ranks: how many entries stand at or before each of some places in the order of the dead set (score, then member by bytes).
-- KEYS[1] zset the dead set
-- ARGV[1] score, ARGV[2] '=' .. member: that entry's place, also when it is gone · '' the place after all of this score;
--   ARGV[3] and ARGV[4] the next place, and so on
-- Returns {rank, rank, ...}, one a place
local set = KEYS[1]
local function before(a, b)  -- by bytes: Lua's own < follows the locale
  for i = 1, math.min(#a, #b), 16 do
    local x, y = a:sub(i, i + 15), b:sub(i, i + 15)
    if x ~= y then
      for k = 1, math.min(#x, #y) do
        local p, q = x:byte(k), y:byte(k)
        if p ~= q then return p < q end
      end
      return #x < #y
    end
  end
  return #a < #b
end
local function upto(score, place)
  if place == '' then return redis.call('ZCOUNT', set, '-inf', score) end
  local member = place:sub(2)
  local found = redis.call('ZSCORE', set, member)
  if found and tonumber(found) == tonumber(score) then return redis.call('ZRANK', set, member) + 1 end
  local low = redis.call('ZCOUNT', set, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', set, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if before(member, redis.call('ZRANGE', set, middle, middle)[1]) then high = middle else low = middle + 1 end
  end
  return low
end
local ranks = {}
for i = 1, #ARGV, 2 do ranks[#ranks + 1] = upto(ARGV[i], ARGV[i + 1]) end
return ranks
