--! the script did not end within its 10000000 units of work
local t = {}
for i = 1, 100000 do t[i] = i end
while true do table.sort(t) end
