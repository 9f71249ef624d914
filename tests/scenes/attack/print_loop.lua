--! the script did not end within its 10000000 units of work
while true do print("again") end
