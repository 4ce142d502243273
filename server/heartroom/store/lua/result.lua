-- Keeps a player's result of a day, unless there is one, or the player is being forgotten.
--
-- KEYS  1  the player's results (hash: day -> result)    2  that the player is gone (string)
-- ARGV  1  the day    2  the result
-- Returns 1 if there is a result now, 0 if the player is being forgotten.
if redis.call('EXISTS', KEYS[2]) == 1 then
  return 0
end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return 1
