--! 2: extrude: profile must not cross or touch itself
local s = extrude { profile = { {0, 0}, {1, 1}, {1, 0}, {0, 1} }, height = 1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
