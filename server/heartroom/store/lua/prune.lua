-- Takes off the boards of one slot what is no player's row there, or the row of a player without facts.
--
-- KEYS  as in enter.lua
-- ARGV  what was found on one of the boards
-- Returns how many of these were taken off.
local count = 0
for _, row in ipairs(ARGV) do
  local pid = string.match(row, '.*\n(.*)') or ''
  if redis.call('HGET', KEYS[2], pid) ~= row or not redis.call('HGET', KEYS[1], pid) then
    local gone = 0
    for i = 3, #KEYS do
      gone = gone + redis.call('ZREM', KEYS[i], row)
    end
    count = count + math.min(gone, 1)
  end
end
return count
