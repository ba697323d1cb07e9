-- close_gate: from now on no lease is given or extended. A gate that is closed already stays as it is.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] who and why, one line of JSON; kept with the time before it: "<unix ms> <JSON>"
-- Returns {1 closed · 0 was closed before, what the gate's key holds now}.
--include header
--include primary

local closed = redis.call('SET', gate, format('%d ', now) .. ARGV[1], 'NX')
return {closed and 1 or 0, redis.call('GET', gate)}
