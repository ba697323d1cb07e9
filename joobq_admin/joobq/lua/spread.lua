-- spread: how many entries of the dead set lie below each of some scores, in one moment. Reads only.
-- A script and no MULTI: a server whose memory is full queues no commands.
-- KEYS[1] zset the dead set
-- ARGV[1] score, ARGV[2] the next one, and so on
-- Returns {seconds, microseconds of the server's clock, entries in all, entries below ARGV[1], below ARGV[2], ...}
local now = redis.call('TIME')
local answer = {now[1], now[2], redis.call('ZCARD', KEYS[1])}
for i = 1, #ARGV do answer[3 + i] = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[i]) end
return answer
