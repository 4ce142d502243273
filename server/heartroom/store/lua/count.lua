-- Counts a finished game in a player's statistics, once.
--
-- KEYS  1  the player's finished games (sorted set: "session game", by when it ended in ms)
--       2  the statistics (hash)    3  that the player is gone (string)
-- ARGV  1  "session game"    2  when it ended    3  games that ended before this are forgotten (their sessions
--       have expired, so nobody will count them again)
--       then for each number: how it is put to what there is ('sum', 'min' or 'max'), its name, the number
-- Returns 1 if it was counted, 0 if it had been, or the player is being forgotten.
if redis.call('EXISTS', KEYS[3]) == 1 then
  return 0
end
if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 0 then
  return 0
end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
for i = 4, #ARGV, 3 do
  local how, name, number = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  local before = redis.call('HGET', KEYS[2], name)
  if how == 'sum' then
    redis.call('HINCRBY', KEYS[2], name, number)
  elseif not before or (how == 'min' and tonumber(number) < tonumber(before))
      or (how == 'max' and tonumber(number) > tonumber(before)) then
    redis.call('HSET', KEYS[2], name, number)
  end
end
return 1
