-- Takes a drop from each of some leaky buckets, if all have one.
--
-- KEYS  the buckets (strings: how full it was, a blank, when, in ms)
-- ARGV  for each: how many drops it holds, how many ms one takes to come back
-- Returns 1 if they were taken, 0 if one bucket was empty: then none was.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local left = {}
for i, key in ipairs(KEYS) do
  local size, each = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local found = redis.call('GET', key)
  local level = size
  if found then
    local before, at = string.match(found, '^(%S+) (%d+)$')
    level = math.min(size, tonumber(before) + math.max(0, now - at) / each)
  end
  if level < 1 then
    return 0
  end
  left[i] = level - 1
end
for i, key in ipairs(KEYS) do
  local full_again = math.ceil((ARGV[2 * i - 1] - left[i]) * ARGV[2 * i])
  redis.call('SET', key, string.format('%.6f %d', left[i], now), 'PX', full_again)
end
return 1
