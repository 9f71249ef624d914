--! 3: offset has more than 100 shapes inside each other
local s = sphere { radius = 1 }
for i = 1, 100000 do s = offset(s, 1e-9) end
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
