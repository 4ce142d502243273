-- A node has closed a session and need not hear of it any more.
--
-- KEYS  1  the session's hash
-- ARGV  1  the node
-- Returns 1 if the node was among those that had it open, else 0.
local nodes = redis.call('HGET', KEYS[1], 'nodes')
if not nodes then
  return 0
end
local left, found = {}, 0
for node in string.gmatch(nodes, '[^,]+') do
  if node == ARGV[1] then
    found = 1
  else
    left[#left + 1] = node
  end
end
if found == 1 then
  redis.call('HSET', KEYS[1], 'nodes', table.concat(left, ','))
end
return found
