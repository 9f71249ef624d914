--! 2: subtract: needs two shapes or more, got 1
local s = subtract { sphere { radius = 1 } }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
