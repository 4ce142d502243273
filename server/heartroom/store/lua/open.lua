-- Opens a session on a node: from now on the node hears of every commit that it does not make itself,
-- and gets all that was committed before. One step, so nothing falls between.
--
-- KEYS  1  the session's hash    2  the session's log
-- ARGV  1  the node    2  the version it has already (0: none)    3  seconds to live from now on
--       4  when that version was stored (0: not compared)
-- Returns {now in ms since 1970, the hash as a flat list, length of the log, the entries after ARGV[2], 1 if
--       the log still has what the node has of it, else 0}, or nothing if there is no such session.
local hash, log = KEYS[1], KEYS[2]
local nodes = redis.call('HGET', hash, 'nodes')
if not nodes then
  return false
end
if not string.find(',' .. nodes .. ',', ',' .. ARGV[1] .. ',', 1, true) then
  nodes = nodes == '' and ARGV[1] or nodes .. ',' .. ARGV[1]
end
-- Also if that is so already: replicas that are waited for are known to have what is read here when they have
-- what is written here.
redis.call('HSET', hash, 'nodes', nodes)
if redis.call('TTL', hash) < tonumber(ARGV[3]) then
  redis.call('EXPIRE', hash, ARGV[3])
  redis.call('EXPIRE', log, ARGV[3])
end
local version, length = tonumber(ARGV[2]), redis.call('LLEN', log)
local follows = length >= version
if follows and version > 0 and ARGV[4] ~= '0' then
  follows = string.sub(redis.call('LINDEX', log, version - 1), 1, 13) == ARGV[4]
end
local clock = redis.call('TIME')
return {
  tonumber(clock[1] .. string.format('%03d', math.floor(clock[2] / 1000))),
  redis.call('HGETALL', hash),
  length,
  redis.call('LRANGE', log, ARGV[2], -1),
  follows and 1 or 0,
}
