--! 2: torus: tube must be < radius = 0.1 m, got 0.2
local s = torus { radius = 0.1, tube = 0.2 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
