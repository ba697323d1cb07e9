-- take_turn: one step of a repair cycle begins. One cycle of a ledger goes on at a time, whoever began it, and one step
-- of it is taken at a time, whoever asks.
--
-- KEYS[1] hash  the cycle: operation, by, name, began, cursor, turn, until, stepped, ended ('' = it goes on), numbers;
--   lost: steps of which nobody knows what they did
-- ARGV[1] operation · ARGV[2] turn, a name for this step · ARGV[3] ms that a turn lasts · ARGV[4] ms that a cycle is kept
--   · ARGV[5] 1 begin a cycle when none goes on · 0 go on with what there is
-- ARGV[6...] further fields of a new cycle, name and value
-- Returns {1 it is this step's turn · 0 it is not, then the fields of the cycle, name and value}. No fields: there is none.

local key, clock = KEYS[1], redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local operation, turn, lasts, kept, begins = unpack(ARGV, 1, 5)
local function is(field) return redis.call('HGET', key, field) end

if begins == '1' and is('ended') ~= '' and is('operation') ~= operation then
  redis.call('DEL', key)
  redis.call('HSET', key, 'operation', operation, 'began', now, 'stepped', now, 'ended', '', 'until', 0, unpack(ARGV, 6))
end
local mine = is('ended') == '' and tonumber(is('until')) <= now
if mine then
  if is('until') ~= '0' then redis.call('HINCRBY', key, 'lost', 1) end  -- the step before never ended
  redis.call('HSET', key, 'turn', turn, 'until', now + lasts)
end
redis.call('PEXPIRE', key, kept)
return {mine and 1 or 0, unpack(redis.call('HGETALL', key))}
