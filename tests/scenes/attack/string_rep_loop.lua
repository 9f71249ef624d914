--! the script did not end within its 10000000 units of work
while true do local s = ("x"):rep(4000) end
