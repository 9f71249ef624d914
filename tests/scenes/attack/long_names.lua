--! the scene has more tables or more problems than are read
local list, shape, name = {}, sphere { radius = 1 }, ("x"):rep(4000)
for i = 1, 50000 do list[i] = { name = name, shape = shape, density = 1 } end
return scene { talus = 1, engine = "lg", duration = 1, bodies = list }
