-- records: what the audit log holds under some prefixes of its index, the newest first. Reads only.
-- KEYS[1] stream the audit log · KEYS[2] zset its index
-- ARGV[1] most records of a prefix (-1: all) · ARGV[2...] prefixes as they stand in the index, up to and with a \0
-- Returns for each prefix a list of {member of the index, id, fields of the record as name, value, ... (none: it is gone)}.
local audit, index, most = KEYS[1], KEYS[2], ARGV[1]
local answer = {}
for i = 2, #ARGV do
  local rows = {}
  for _, member in ipairs(redis.call('ZRANGE', index, '(' .. ARGV[i] .. '\255', '[' .. ARGV[i], 'BYLEX', 'REV', 'LIMIT', 0, most)) do
    local id = string.match(member, '%z(%d+%-%d+)$')
    if id then
      local row = redis.call('XRANGE', audit, id, id)[1]
      rows[#rows + 1] = {member, id, row and row[2] or {}}
    end
  end
  answer[#answer + 1] = rows
end
return answer
