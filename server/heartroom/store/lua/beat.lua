-- Prolongs a node's lease and tells whose leases hold.
--
-- KEYS  1  by node: when it last said that it lives, in ms since 1970 (hash)
-- ARGV  1  the node    2  how long a lease holds, in ms; a node whose lease has ended is struck off
--       3  'come': the node begins; 'stay': its lease is prolonged if it holds; 'go': it ends
-- Returns {1 if the node's lease held until now, else 0; each node whose lease holds now, ...}.
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local all = redis.call('HGETALL', KEYS[1])
local answer = {0}
for i = 1, #all, 2 do
  if tonumber(all[i + 1]) < now - ARGV[2] then
    redis.call('HDEL', KEYS[1], all[i])
  elseif all[i] == ARGV[1] then
    answer[1] = 1
  else
    answer[#answer + 1] = all[i]
  end
end
if ARGV[3] == 'go' then
  redis.call('HDEL', KEYS[1], ARGV[1])
elseif ARGV[3] == 'come' or answer[1] == 1 then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now))
  answer[#answer + 1] = ARGV[1]
end
return answer
