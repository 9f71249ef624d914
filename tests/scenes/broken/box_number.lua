--! 2: box must be a box { ... }, got 3
local s = box(3)
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
