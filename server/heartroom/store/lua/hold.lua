-- Holds something that one at a time may have, for a while, or lets it go.
--
-- KEYS  1  what is held: by whom (string)
-- ARGV  1  who    2  for how long, in ms
--       3  'take': unless somebody has it; 'keep': if they have it; 'leave'
-- Returns 1 if it was done, else 0.
local whose = redis.call('GET', KEYS[1])
if ARGV[3] == 'take' then
  if whose then
    return 0
  end
elseif whose ~= ARGV[1] then
  return 0
end
if ARGV[3] == 'leave' then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1
