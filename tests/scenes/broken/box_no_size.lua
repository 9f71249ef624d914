--! 2: box.size is missing; it must be a number or three numbers {x, y, z} in m
local s = box {}
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
