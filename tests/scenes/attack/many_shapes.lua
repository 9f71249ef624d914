--! 2: the script did not end within its 10000000 units of work
for i = 1, 1e9 do sphere { radius = 1 } end
