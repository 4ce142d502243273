-- Puts a player on the boards of one slot, all at once, unless what stands there is at least as new.
--
-- KEYS  1  facts (hash: player -> version, a blank, the facts)    2  rows (hash: player -> row)
--       3, ...  the boards (sorted sets of rows)
-- ARGV  1  the player    2  version    3  the facts    4  the row: sort key, name and player, a newline between
--       5, ...  the score on each board, '' for none
-- Returns 1 if the player was entered, 0 if what there was stays.
local found = redis.call('HGET', KEYS[1], ARGV[1])
if found and tonumber(string.match(found, '^%d+')) >= tonumber(ARGV[2]) then
  return 0
end
local before = redis.call('HGET', KEYS[2], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
for i = 3, #KEYS do
  if before then
    redis.call('ZREM', KEYS[i], before)
  end
  if ARGV[i + 2] ~= '' then
    redis.call('ZADD', KEYS[i], ARGV[i + 2], ARGV[4])
  end
end
return 1
