-- KEYS[1]: the key's theoretical arrival; ARGV: cost, tolerance. All times are microseconds, those of this server's clock.
-- Answers whether the charge was allowed and how far ahead of now the arrival lies.
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local cost, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
-- Beyond the tolerance: the clock was set back, or the policy was larger. It is not held against the key.
arrival = math.min(math.max(arrival, now), now + tolerance)
local allowed = arrival + cost <= now + tolerance
if allowed and cost > 0 then
  arrival = arrival + cost
  -- An arrival that has passed says no more than none at all. `%.0f`, because Lua would shorten it to 1.7e+15.
  redis.call('SET', KEYS[1], string.format('%.0f', arrival), 'PX', math.ceil((arrival - now) / 1000))
end
return { allowed and 1 or 0, arrival - now }
