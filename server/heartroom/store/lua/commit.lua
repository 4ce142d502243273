-- Appends one entry to the log of each of n sessions, each only if nothing came between.
--
-- KEYS  2i-1  the session's hash     2i  the session's log (a list: its length is the version)
-- ARGV  1     the committing node, which needs no word of its own commits
--       2     how others hear of them: '' on a channel of each node; else on the session's own shard channel,
--             and this is ',' followed by the nodes that are known to be dead, each with a ',' after it
--       then for each session: epoch, the version it is at, when that was stored (0: not compared), the entry,
--             seconds to live (0: leave the lifetime as it is)
-- Returns {now in ms since 1970, r1, ..., rn}; each r is
--       0  stored    1  another version or epoch: read on, then try again    2  no such session
--
-- The time is taken here, from Redis, so that one clock judges every node's players. It stands before
-- the entry as 13 digits, and tells whether the last entry is the one that the node knows: a log that lost
-- entries in a failover may have the old length again. An entry goes to the other nodes that have the session
-- open, as "session node epoch version before entry" (before: when the one before was stored). A node that
-- hears nothing on its channel, or is known to be dead, is struck off.
local clock = redis.call('TIME')
local now = clock[1] .. string.format('%03d', math.floor(clock[2] / 1000))
local node, dead = ARGV[1], ARGV[2]
local results = {tonumber(now)}
for i = 1, #KEYS / 2 do
  local hash, log = KEYS[2 * i - 1], KEYS[2 * i]
  local a = 5 * i - 2
  local expected, before = tonumber(ARGV[a + 1]), ARGV[a + 2]
  local known = redis.call('HMGET', hash, 'epoch', 'nodes')
  local entry = now .. ARGV[a + 3]
  local follows = known[1] == ARGV[a]
  if follows and before ~= '0' then
    local last = redis.call('LINDEX', log, -1)
    follows = last and string.sub(last, 1, 13) == before
  elseif follows then
    follows = redis.call('LLEN', log) == expected
  end
  -- The length, too, for there may be several entries of one millisecond. RPUSH tells it for nothing; where that
  -- is too many, which is rare, the entry goes again before anybody has seen it.
  if follows and redis.call('RPUSH', log, entry) ~= expected + 1 then
    redis.call('RPOP', log)
    follows = false
  end
  if follows then
    results[i + 1] = 0
    local ttl = tonumber(ARGV[a + 4])
    if ttl > 0 then
      redis.call('EXPIRE', hash, ttl)
      redis.call('EXPIRE', log, ttl)
    end
    if known[2] ~= node then
      local sid = string.match(hash, '{(.-)}')
      local news = table.concat({sid, node, ARGV[a], expected + 1, before, entry}, ' ')
      local left, others = {}, 0
      for other in string.gmatch(known[2] or '', '[^,]+') do
        local hears = other == node
        if dead ~= '' then
          hears = hears or not string.find(dead, ',' .. other .. ',', 1, true)
        else
          hears = hears or redis.call('PUBLISH', 'hr:n:' .. other, news) > 0
        end
        if hears then
          left[#left + 1] = other
          others = other == node and others or others + 1
        end
      end
      if dead ~= '' and others > 0 then
        redis.call('SPUBLISH', 'hr:c:{' .. sid .. '}', news)
      end
      local nodes = table.concat(left, ',')
      if nodes ~= known[2] then
        redis.call('HSET', hash, 'nodes', nodes)
      end
    end
  else
    results[i + 1] = known[1] and 1 or 2
  end
end
return results
