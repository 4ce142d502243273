-- What all nodes say of the live games they have open.
--
-- KEYS  1  by node: when it was said (13 digits, ms since 1970), and what (hash)
-- ARGV  1  how old what a node said may be, in ms; an older one is struck off: that node is gone
--       2  the node that says something new, '' to say nothing    3  what it says, '' for nothing any more
-- Returns {what each node says, ...}. What has no time, or is of another type, somebody else has put there: it is
-- taken away.
local clock = redis.call('TIME')
local now = clock[1] .. string.format('%03d', math.floor(clock[2] / 1000))
local there = redis.pcall('HLEN', KEYS[1])
if type(there) == 'table' then
  if not string.find(there['err'], '^WRONGTYPE') then error(there) end
  redis.call('DEL', KEYS[1])
end
if ARGV[2] ~= '' then
  if ARGV[3] == '' then
    redis.call('HDEL', KEYS[1], ARGV[2])
  else
    redis.call('HSET', KEYS[1], ARGV[2], now .. ARGV[3])
  end
end
local said, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local at = string.match(all[i + 1], '^%d%d%d%d%d%d%d%d%d%d%d%d%d')
  if not at or tonumber(at) < now - ARGV[1] then
    redis.call('HDEL', KEYS[1], all[i])
  else
    said[#said + 1] = string.sub(all[i + 1], 14)
  end
end
return said
