-- Gives a player another row on the boards of one slot, with the scores of the old one, or takes the player off.
--
-- KEYS  as in enter.lua
-- ARGV  1  the player    2  the row, '' to take the player off
-- Returns 1 if that changed anything, else 0.
local before = redis.call('HGET', KEYS[2], ARGV[1])
local facts = 0
if ARGV[2] == '' then -- facts without a row, which nobody else wrote, would keep the player from coming back
  facts = redis.call('HDEL', KEYS[1], ARGV[1])
end
if not before or before == ARGV[2] then
  return facts
end
if ARGV[2] == '' then
  redis.call('HDEL', KEYS[2], ARGV[1])
else
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
for i = 3, #KEYS do
  local score = redis.call('ZSCORE', KEYS[i], before)
  if score then
    redis.call('ZREM', KEYS[i], before)
    if ARGV[2] ~= '' then
      redis.call('ZADD', KEYS[i], score, ARGV[2])
    end
  end
end
return 1
