--! 2: rotate must be three angles {x, y, z} in degrees, got 45
local s = sphere { radius = 1 }:rotate(45)
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
