-- whereabouts: is a job waiting, being run or due for a retry? Looks at the nearest few only. Reads only.
-- KEYS[1] list the queue · KEYS[2] list its jobs in processing · KEYS[3] zset delayed jobs
-- ARGV[1] jid · ARGV[2] most jobs of each key that are looked at · ARGV[3] no more are looked at once they hold so many bytes
-- Returns {seconds of the server's clock, jobs waiting (-1 = no list), place from the front (1 = next; 0 = not seen),
--   1 seen in processing · 0 not, due as a score ('' = not seen), 1 every job of all three was looked at · 0 not}.
--include queue_of
local jid, most, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local whole = 1
local function is_it(text)
  room = room - #text
  return string.find(text, jid, 1, true) and object_of(text).jid == jid
end
local function of_type(key, kind)
  return redis.call('TYPE', key).ok == kind
end
local function place_in(key, from_right)  -- counted from the end where jobs are taken, or were put last
  local size = redis.call('LLEN', key)
  for at = 1, math.min(size, most) do
    if room <= 0 then whole = 0 return 0 end
    if is_it(redis.call('LINDEX', key, from_right and -at or at - 1)) then return at end
  end
  if size > most then whole = 0 end
  return 0
end

local waiting, place, running, due = 0, 0, 0, ''
if of_type(KEYS[1], 'list') then
  waiting = redis.call('LLEN', KEYS[1])
  place = place_in(KEYS[1], true)
elseif not of_type(KEYS[1], 'none') then
  waiting = -1
end
if of_type(KEYS[2], 'list') and place_in(KEYS[2], false) > 0 then running = 1 end
if of_type(KEYS[3], 'zset') then
  if redis.call('ZCARD', KEYS[3]) > most then whole = 0 end
  for at = 0, most - 1 do
    local row = redis.call('ZRANGE', KEYS[3], at, at, 'WITHSCORES')
    if not row[1] then break end
    if room <= 0 then whole = 0 break end
    if is_it(row[1]) then due = row[2] break end
  end
end
return {redis.call('TIME')[1], waiting, place, running, due, whole}
