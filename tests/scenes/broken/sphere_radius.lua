--! 2: sphere.radius must be > 0 m, got -1
local s = sphere { radius = -1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
