--! the script did not end within its 10000000 units of work
local t = {}
for i = 1, 10000 do t["k" .. i] = i end
while true do for k in pairs(t) do break end end
