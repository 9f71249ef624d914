--! 2: box.size[2] must be > 0 m, got 0
local s = box { size = {1, 0, 1} }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
