--! 2: capsule.to is missing; it must be three numbers {x, y, z} in m
local s = capsule { from = {0, 0, 0}, radius = 1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
