-- copies: which copies of a purge the bin has still, whatever other purges put there. Reads only, and none of the copies.
-- KEYS[1] zset the index of the audit log · KEYS[2] hash the bin · KEYS[3] zset its times
-- ARGV[1] how the members of the index begin that are looked at · ARGV[2] the one behind which to begin ('' = with the first)
-- ARGV[3] how many
-- Returns {the member behind which to go on ('' = all were looked at), digest, purged at in unix ms, digest, purged at, ...}
--include times
local index, bin, times = unpack(KEYS)
local prefix, after, most = unpack(ARGV, 1, 3)
local first = after == '' and '[' .. prefix or '(' .. after
local members, now = redis.call('ZRANGE', index, first, '(' .. prefix .. '\255', 'BYLEX', 'LIMIT', 0, most), now_ms()
local answer = {#members == tonumber(most) and members[#members] or ''}
for _, member in ipairs(members) do
  local digest, id = string.match(member, '%z(%x+)%z(%d+%-%d+)$')
  local at = digest and redis.call('ZSCORE', times, digest)
  if at and tonumber(at) == (time_of(id, now) or tonumber(at)) and redis.call('HSTRLEN', bin, digest) > 0 then
    answer[#answer + 1] = digest
    answer[#answer + 1] = at
  end
end
return answer
