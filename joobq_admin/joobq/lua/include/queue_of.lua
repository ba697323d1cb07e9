-- The queue that an entry names, as JoobQ's own scripts read it; '' = unknown. cjson's settings are global to the server.
cjson.decode_max_depth(1000) cjson.decode_invalid_numbers(true)
local function object_of(text)
  local ok, job = pcall(cjson.decode, text)
  return ok and type(job) == 'table' and job or {}
end
local function queue_of(text)
  local queue = object_of(text).queue
  return type(queue) == 'string' and queue or ''
end
