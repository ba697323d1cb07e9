-- trim_audit: the oldest records leave the audit log together with their members of the index, a few at a time.
-- KEYS[1] stream the audit log, KEYS[2] zset its index
-- ARGV[1] how many records are kept, ARGV[2] how far over that before anything is done, ARGV[3] most records a call (<= 250)
-- Returns how many records went. Call again while it is above 0 and there is time.
local audit, index = unpack(KEYS)
local cap, slack, step = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local size = redis.call('XLEN', audit)
if size <= cap + slack then return 0 end
local rows, gone = redis.call('XRANGE', audit, '-', '+', 'COUNT', math.min(step, size - cap)), {}
for _, row in ipairs(rows) do
  local id, field = row[1], {}
  for i = 1, #row[2], 2 do field[row[2][i]] = row[2][i + 1] end
  if field.operation and field.action then
    local digest = field.digest or ''
    gone[#gone + 1] = 'o:' .. field.operation .. '\0' .. field.action .. '\0' .. digest .. '\0' .. id
    if field.action == 'purge_all' then gone[#gone + 1] = 'a:purge_all\0' .. id end
    if digest ~= '' then gone[#gone + 1] = 'd:' .. digest .. '\0' .. id end
    if field.jid and field.jid ~= '' then gone[#gone + 1] = 'j:' .. field.jid .. '\0' .. id end
    if field.job and field.job ~= '' then gone[#gone + 1] = 's:' .. field.operation .. '\0' .. field.job .. '\0' .. id end
  end
end
redis.call('XTRIM', audit, 'MAXLEN', '=', size - #rows)
if #gone > 0 then redis.call('ZREM', index, unpack(gone)) end
return #rows
