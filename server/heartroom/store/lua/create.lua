-- Stores a new session, unless there is one of this name already: whoever finds one half begun may begin it
-- again.
--
-- KEYS  1  the session's hash
-- ARGV  1  seconds to live    then field, value, field, value, ...
-- Returns 1 if it was stored, 0 if there was one.
if redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
