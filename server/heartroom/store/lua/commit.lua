-- Appends one entry to the log of each of n sessions, each only if nothing came between.
--
-- KEYS  2i-1  the session's hash     2i  the session's log (a list: its length is the version)
-- ARGV  1     the committing node, which needs no word of its own commits
--       then for each session: epoch, the version it is at, the entry, seconds to live
--             (0: leave the lifetime as it is)
-- Returns {now in ms since 1970, r1, ..., rn}; each r is
--       0  stored    1  another version or epoch: read on, then try again    2  no such session
--
-- The time is taken here, from Redis, so that one clock judges every node's players. It stands before
-- the entry as 13 digits. An entry goes to the other nodes that have the session open; one that hears
-- nothing is gone and is struck off.
local clock = redis.call('TIME')
local now = clock[1] .. string.format('%03d', math.floor(clock[2] / 1000))
local node = ARGV[1]
local results = {tonumber(now)}
for i = 1, #KEYS / 2 do
  local hash, log = KEYS[2 * i - 1], KEYS[2 * i]
  local a = 4 * i - 2
  local expected = tonumber(ARGV[a + 1])
  local known = redis.call('HMGET', hash, 'epoch', 'nodes')
  if not known[1] then
    results[i + 1] = 2
  elseif known[1] ~= ARGV[a] or redis.call('LLEN', log) ~= expected then
    results[i + 1] = 1
  else
    local entry = now .. ARGV[a + 2]
    redis.call('RPUSH', log, entry)
    results[i + 1] = 0
    local ttl = tonumber(ARGV[a + 3])
    if ttl > 0 then
      redis.call('EXPIRE', hash, ttl)
      redis.call('EXPIRE', log, ttl)
    end
    if known[2] ~= node then
      local left = {}
      for other in string.gmatch(known[2] or '', '[^,]+') do
        if other == node or redis.call('PUBLISH', 'hr:n:' .. other,
            string.match(hash, '{(.-)}') .. ' ' .. ARGV[a] .. ' ' .. (expected + 1) .. ' ' .. entry) > 0 then
          left[#left + 1] = other
        end
      end
      local nodes = table.concat(left, ',')
      if nodes ~= known[2] then
        redis.call('HSET', hash, 'nodes', nodes)
      end
    end
  end
end
return results
