-- Does what a commit does, with nothing that anybody reads, and then all else that nodes do, where there is nothing:
-- whether this server takes writes now, and whether it lets us do all that.
--
-- KEYS  1  stands for a session's hash     2  stands for its log; nothing stays there
--       3, ...  keys that are not touched: whoever may not use one of them cannot call this
-- ARGV  1  how long what is written lives, in s    2  a channel that nobody hears
--       3  '' if it is a plain one, else it is a shard channel
-- Returns when that was, in ms since 1970. An error of one command names it: some servers do not say which it was
-- that they refused.
local function call(command, ...)
  local answer = redis.pcall(command, ...)
  if type(answer) == 'table' and answer['err'] then
    error({err = answer['err'] .. ' (' .. command .. ')'})
  end
  return answer
end
local clock = call('TIME')
local hash, list = KEYS[1], KEYS[2]
call('HMGET', hash, 'epoch', 'nodes')
call('RPUSH', list, '')  -- the first that writes, as in a commit: after another a server without memory lets it pass
call('EXPIRE', list, ARGV[1])
call('LINDEX', list, -1)
call('LLEN', list)
call('RPOP', list)
call('HSET', hash, 'nodes', '')
call('EXPIRE', hash, ARGV[1])
if ARGV[3] == '' then
  call('PUBLISH', ARGV[2], '')
else
  call('SPUBLISH', ARGV[2], '')
end
-- Sessions, players, boards. What takes something away comes before what would have to be, too.
call('LRANGE', list, 0, -1)
call('DEL', list)
call('RPUSH', list, '')
call('LSET', list, 0, '')
call('DEL', list)
call('HSETNX', hash, 'nodes', '')
call('HDEL', hash, 'count')
call('HINCRBY', hash, 'count', 0)
call('HDEL', hash, 'count')
call('HGET', hash, 'nodes')
call('HGETALL', hash)
call('HEXISTS', hash, 'nodes')
call('HKEYS', hash)
call('HVALS', hash)
call('HLEN', hash)
call('TTL', hash)
local none = list
call('EXISTS', none)
call('GET', none)
call('SET', none, '', 'EX', ARGV[1])
call('DEL', none)
call('SMEMBERS', none)
call('SREM', none, '')
call('SADD', none, '')
call('SREM', none, '')
call('ZADD', none, 'XX', 0, '')
call('ZREM', none, '')
call('ZCARD', none)
call('ZCOUNT', none, 0, 0)
call('ZRANGE', none, 0, 0)
call('ZREVRANGE', none, 0, 0)
call('ZRANK', none, '')
call('ZSCORE', none, '')
call('ZMSCORE', none, '')
call('ZREMRANGEBYRANK', none, 0, 0)
call('ZREMRANGEBYSCORE', none, 0, 0)
return clock[1] * 1000 + math.floor(clock[2] / 1000)
