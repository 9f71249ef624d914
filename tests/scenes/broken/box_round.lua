--! 2: box:
local s = box { size = 1, round = 0.7 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
