-- Writes what nobody reads: whether this server takes writes now.
--
-- KEYS  1  what is written (string)
-- ARGV  1  how long it lives, in ms
-- Returns 1.
redis.call('SET', KEYS[1], '', 'PX', ARGV[1])
return 1
