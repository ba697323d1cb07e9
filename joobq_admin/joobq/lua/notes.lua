-- notes: when, by whom and why entries were purged that are in the bin, without their bytes. Reads only.
-- KEYS[1] hash the bin
-- ARGV[1...] digests
-- Returns for each digest what stands before the bytes, "<score> <purged at, ms> <who and why>"; '' = not in the bin.
local bin, answer = KEYS[1], {}
for i = 1, #ARGV do
  local kept = redis.call('HGET', bin, ARGV[i])
  answer[i] = kept and string.match(kept, '^[^\n]*') or ''
end
return answer
