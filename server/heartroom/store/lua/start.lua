-- Starts a player's ranked attempt of a day, of which there is one for ever.
--
-- KEYS  1  the day's starts (hash: player -> session)    2  its attempts under way (sorted set, by start in ms)
-- ARGV  1  the player    2  the session to use if there is none yet    3  now in ms    4  seconds to live
-- Returns the session: ARGV[2], or the one of an earlier start.
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 1 then
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[1])
  redis.call('EXPIRE', KEYS[1], ARGV[4])
  redis.call('EXPIRE', KEYS[2], ARGV[4])
end
return redis.call('HGET', KEYS[1], ARGV[1])
