--! 3: the script did not end within its 10000000 units of work
local t = {}
for i = 1, 1e9 do t[i] = {i, i, i, i} end
