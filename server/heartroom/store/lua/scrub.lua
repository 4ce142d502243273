-- Makes a session forget a player: whoever reads it finds somebody else in the same places.
--
-- KEYS  1  the session's hash    2  its log
-- ARGV  1  the player    2  somebody else, of the same length
-- Returns how many entries of the log were changed.
if redis.call('HGET', KEYS[1], 'owner') == ARGV[1] then
  redis.call('HSET', KEYS[1], 'owner', ARGV[2])
end
local changed = 0
for i, entry in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  local at = string.find(entry, ARGV[1], 1, true)
  if at then
    local after = string.sub(entry, at + #ARGV[1])
    redis.call('LSET', KEYS[2], i - 1, string.sub(entry, 1, at - 1) .. ARGV[2] .. after)
    changed = changed + 1
  end
end
return changed
