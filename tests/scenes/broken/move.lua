--! 2: move must be three numbers {x, y, z} in m, got 1
local s = move(sphere { radius = 1 }, 1)
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
