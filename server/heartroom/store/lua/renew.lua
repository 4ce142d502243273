-- Gives a session whose log has lost entries (a failover, a restored backup) a new epoch, so that nobody
-- who saw the lost ones goes on from them.
--
-- KEYS  1  the session's hash    2  the session's log
-- ARGV  1  the epoch that is known to be broken    2  the epoch to take    3  the length the log should have
--       4  when the entry of that length was stored (0: not compared)
-- Returns the epoch that holds now (another node may have been first), or nothing if there is no session.
local epoch = redis.call('HGET', KEYS[1], 'epoch')
if epoch and epoch == ARGV[1] then
  local length = tonumber(ARGV[3])
  local whole = redis.call('LLEN', KEYS[2]) >= length
  if whole and length > 0 and ARGV[4] ~= '0' then
    whole = string.sub(redis.call('LINDEX', KEYS[2], length - 1), 1, 13) == ARGV[4]
  end
  if not whole then
    redis.call('HSET', KEYS[1], 'epoch', ARGV[2])
    return ARGV[2]
  end
end
return epoch
