-- The queue that an entry names, as JoobQ's own scripts read it; '' = unknown. cjson's settings are global to the server.
cjson.decode_max_depth(1000) cjson.decode_invalid_numbers(true)
local function queue_of(text)
  local ok, job = pcall(cjson.decode, text)
  if ok and type(job) == 'table' and type(job.queue) == 'string' then return job.queue end
  return ''
end
