--! the script did not end within its 10000000 units of work
local t = {}
for i = 1, 2000 do t[i * 4095] = i end -- all in one chain of Lua's table
while true do local x = t[-4095] end
