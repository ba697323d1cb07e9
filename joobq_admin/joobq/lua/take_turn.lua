-- take_turn: one step of a repair cycle begins. One cycle of a ledger goes on at a time, whoever began it, and one step
-- of it is taken at a time, whoever asks. Whatever stands there and is no such cycle counts as none.
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

local NUMBERS = {'began', 'stepped', 'until', 'total', 'lost', 'records', 'entries', 'expired', 'mended', 'quarantined'}
local KINDS = {records = true, ready = true, leases = true}
local function number(field)
  local found = is(field) or ''
  return #found <= 15 and string.find(found, '^%d+$')
end
local function is_one()
  if redis.call('TYPE', key).ok ~= 'hash' then return false end
  for _, field in ipairs(NUMBERS) do if not number(field) then return false end end
  local kind = KINDS[string.match(is('cursor') or '', '^(%a+):%d+$')]
  return is('operation') and is('by') and is('name') and (kind and is('ended') == '' or is('cursor') == '' and number('ended'))
end

redis.call('PEXPIRE', key, kept)  -- first: a replica refuses it, and a full server lets what follows be done
local there = is_one()
if begins == '1' and (not there or is('ended') ~= '' and is('operation') ~= operation) then
  redis.call('DEL', key)
  redis.call('HSET', key, 'operation', operation, 'began', now, 'stepped', now, 'ended', '', 'until', 0, unpack(ARGV, 6))
  redis.call('PEXPIRE', key, kept)
elseif not there then
  return {0}
end
local left = is('until') - now  -- more than a turn: by a clock that went back since
local mine = is('ended') == '' and (left <= 0 or left > tonumber(lasts))
if mine then
  if is('until') ~= '0' then redis.call('HINCRBY', key, 'lost', 1) end  -- the step before never ended
  redis.call('HSET', key, 'turn', turn, 'until', now + lasts)
end
return {mine and 1 or 0, unpack(redis.call('HGETALL', key))}
