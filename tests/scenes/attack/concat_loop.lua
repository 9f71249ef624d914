--! the script did not end within its 10000000 units of work
local t = {}
for i = 1, 100000 do t[i] = "" end
while true do local s = table.concat(t) end
