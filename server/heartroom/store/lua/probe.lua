-- Does what a commit does, with nothing that anybody reads: whether this server takes writes now, and whether it lets
-- us do all that.
--
-- KEYS  1  stands for a session's hash     2  stands for its log; no such list stays
-- ARGV  1  how long what is written lives, in s    2  a channel that nobody hears
--       3  '' if it is a plain one, else it is a shard channel
-- Returns when that was, in ms since 1970.
local clock = redis.call('TIME')
redis.call('HMGET', KEYS[1], 'epoch', 'nodes')
redis.call('RPUSH', KEYS[2], '')
redis.call('LINDEX', KEYS[2], -1)
redis.call('LLEN', KEYS[2])
redis.call('EXPIRE', KEYS[2], ARGV[1])
redis.call('RPOP', KEYS[2])
redis.call('HSET', KEYS[1], 'nodes', '')
redis.call('EXPIRE', KEYS[1], ARGV[1])
if ARGV[3] == '' then
  redis.call('PUBLISH', ARGV[2], '')
else
  redis.call('SPUBLISH', ARGV[2], '')
end
return clock[1] * 1000 + math.floor(clock[2] / 1000)
