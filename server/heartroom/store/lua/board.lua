-- What is shown of a board: its best rows, and those around a player.
--
-- KEYS  1  facts    2  rows    3  the board (see enter.lua)
-- ARGV  1  the player, or ''    2  how many of the best    3  how many before and after the player
-- Returns {how many there are, the best, place, around}: two flat lists of row, score, facts, row, ...;
--       the second begins `place` rows (0: with the best) from the top; both are empty, and place is -1,
--       for a player who is not on it. Before the second list's first row stand `better` rows with other
--       scores, which follows it as a fifth element. What is not the row of its player has no facts ('').
local function shown(first, last)
  local flat = redis.call('ZRANGE', KEYS[3], first, last, 'WITHSCORES')
  local out, pids = {}, {}
  for i = 1, #flat, 2 do
    pids[#pids + 1] = string.match(flat[i], '.*\n(.*)') or ''
  end
  local facts = #pids > 0 and redis.call('HMGET', KEYS[1], unpack(pids)) or {}
  local rows = #pids > 0 and redis.call('HMGET', KEYS[2], unpack(pids)) or {}
  for i = 1, #pids do
    out[3 * i - 2], out[3 * i - 1] = flat[2 * i - 1], flat[2 * i]
    out[3 * i] = rows[i] == flat[2 * i - 1] and facts[i] or ''
  end
  return out
end
local best = {}
if tonumber(ARGV[2]) > 0 then
  best = shown(0, tonumber(ARGV[2]) - 1)
end
local total = redis.call('ZCARD', KEYS[3])
local row = ARGV[1] ~= '' and redis.call('HGET', KEYS[2], ARGV[1])
local place = row and redis.call('ZRANK', KEYS[3], row)
if not place then
  return {total, best, -1, {}, 0}
end
local first = math.max(0, place - tonumber(ARGV[3]))
local around = shown(first, place + tonumber(ARGV[3]))
return {total, best, first, around, redis.call('ZCOUNT', KEYS[3], '-inf', '(' .. around[2])}
