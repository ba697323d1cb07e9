-- expire: leases that are over end; their requests are READY and due now.
-- KEYS[1] hash records · KEYS[2] hash payloads · KEYS[3] zset ready · KEYS[4] zset leases · KEYS[5] hash quarantine
--   · KEYS[6] string gate
-- ARGV[1] most leases that are looked at
-- Returns how many ended.
--include header
--include transition
--include aside
--include expire
--include primary

return (expire(tonumber(ARGV[1])))
