--! the script did not end within its 10000000 units of work
local a, b = ("x"):rep(4000) .. "a", ("x"):rep(4000) .. "b"
while true do local c = a < b end
