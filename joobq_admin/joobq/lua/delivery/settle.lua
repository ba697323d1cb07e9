-- settle: claims end, each with what became of it.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1...] of each claim: id, admitted at, attempt, owner, R, C or D, delay in ms
-- Returns for each claim an outcome: APPLIED · ALREADY exactly this is stored · LOST not held any more, or in quarantine.
--   Only APPLIED changes anything.
--include header
--include transition
--include holds
--include primary

local ids, out = {}, {}
for i = 1, #ARGV, 6 do ids[#ids + 1] = ARGV[i] end
load(ids)
for i = 1, #ARGV, 6 do
  local id, admitted, attempt, owner, state, delay = unpack(ARGV, i, i + 5)
  local r, outcome = record(id), 'LOST'
  if holds(r, admitted, attempt, owner) then
    if r.state == 'L' and now < tonumber(r.lease) then
      r.state, r.lease = state, NONE
      if state == 'R' then r.due = ms(now + delay) end
      put(id, r)
      outcome = 'APPLIED'
    elseif r.state == state and (state ~= 'R' or r.due - r.updated == tonumber(delay)) then
      outcome = 'ALREADY'
    end
  end
  out[#out + 1] = outcome
end
flush()
return out
