-- add: members enter the dead set with one score; new ones are counted. One that is there already only gets the new score.
-- KEYS[1] zset the dead set · KEYS[2] hash entries per queue
-- ARGV[1] score · ARGV[2...] members
-- Returns how many were new.
--include queue_of
local added = 0
for i = 2, #ARGV do
  if redis.call('ZADD', KEYS[1], ARGV[1], ARGV[i]) == 1 then
    added = added + 1
    redis.pcall('HINCRBY', KEYS[2], queue_of(ARGV[i]), 1)
  end
end
return added
