--! 2: cylinder.height is missing; it must be a number > 0 m
local s = cylinder { radius = 1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
