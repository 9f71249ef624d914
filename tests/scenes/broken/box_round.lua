--! 2: box: round must be from 0 to 0.5, got 0.7
local s = box { size = 1, round = 0.7 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
