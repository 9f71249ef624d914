--! 2:
for i = 1, 1e9 do sphere { radius = 1 } end
