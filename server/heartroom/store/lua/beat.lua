-- Prolongs a node's lease and tells whose leases hold. Nodes of different formats hold none at the same time.
--
-- KEYS  1  by node: when it last said that it lives, in ms since 1970 (hash)
--       2  by node: its format and its release, "1 0.1.0" (hash); a node that has no entry is not asked for more
-- ARGV  1  the node    2  how long a lease holds, in ms; a node whose lease has ended is struck off
--       3  'come': the node begins, unless one of another format lives; 'look': it would; 'stay': its lease is
--          prolonged if it holds; 'go': it ends
--       4  its format and release
-- Returns {1 if the node's lease held until now, else 0; each node whose lease holds now, ...}, or to one that
-- cannot come {-1; by which node, "name format release"}.
-- What somebody else has put there is no lease, and taken away; what is no format is taken for none.
local function read(key)
  local all = redis.pcall('HGETALL', key)
  if all['err'] then
    if not string.find(all['err'], '^WRONGTYPE') then error(all) end
    redis.call('DEL', key)
    return {}
  end
  return all
end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local all = read(KEYS[1])
local about = {}
local told = read(KEYS[2])
for i = 1, #told, 2 do about[told[i]] = told[i + 1] end
local answer = {0}
local living = {}
local stranger
for i = 1, #all, 2 do
  local node = all[i]
  local said = string.match(node, '^[%w_-]+$') and #all[i + 1] <= 15 and string.match(all[i + 1], '^%d+$')
  if not said or tonumber(said) < now - ARGV[2] then
    redis.call('HDEL', KEYS[1], node)
  else
    living[node] = true
    if node == ARGV[1] then
      answer[1] = 1
    else
      answer[#answer + 1] = node
      local number = string.match(about[node] or '', '^(%d+) [%w.+-]+$')
      if number and number ~= string.match(ARGV[4], '^%d+') then stranger = node end
    end
  end
end
for node in pairs(about) do
  if not living[node] then redis.call('HDEL', KEYS[2], node) end
end
if ARGV[3] == 'go' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('HDEL', KEYS[2], ARGV[1])
elseif stranger and (ARGV[3] == 'come' or ARGV[3] == 'look') then
  return {-1, stranger .. ' ' .. about[stranger]}
elseif ARGV[3] == 'come' or (ARGV[3] == 'stay' and answer[1] == 1) then
  redis.call('HSET', KEYS[1], ARGV[1], string.format('%d', now))
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
  answer[#answer + 1] = ARGV[1]
end
return answer
