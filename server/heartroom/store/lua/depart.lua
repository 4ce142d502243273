-- Lets a player out of a group; the last one takes it along.
--
-- KEYS  as in join.lua
-- ARGV  1  the player
-- Returns 1 if the player was in it, else 0.
local was = redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('ZCARD', KEYS[2]) == 0 then
  redis.call('DEL', KEYS[1])
end
return was
