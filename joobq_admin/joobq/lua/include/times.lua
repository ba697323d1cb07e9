-- Times in unix ms. That of a record is in its id, <ms>-<how many before it in this ms>: a fraction keeps records apart.
local function now_ms()
  local clock = redis.call('TIME')
  return clock[1] * 1000 + math.floor(clock[2] / 1000)
end
local function time_of(id, now)  -- nil for an id that no clock wrote: a stream that takes no more, or is far ahead
  local ms, nth = string.match(id, '^(%d+)-(%d+)$')
  ms = tonumber(ms)
  return ms > 0 and ms < now + 60000 and ms + nth % 4096 / 4096 or nil
end
