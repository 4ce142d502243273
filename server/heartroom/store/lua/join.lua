-- Lets a player into a group.
--
-- KEYS  1  the group (hash)    2  its members (sorted set: player, by when they came in ms)
-- ARGV  1  the player    2  now in ms    3  how many members it may have
-- Returns 1 if the player belongs to it now, 0 if it is full, -1 if there is none.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return -1
end
if redis.call('ZSCORE', KEYS[2], ARGV[1]) then
  return 1
end
if redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
return 1
