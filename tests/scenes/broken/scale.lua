--! 2: scale must be > 0 and <= 1000000, got 0
local s = scale(sphere { radius = 1 }, 0)
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
