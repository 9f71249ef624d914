--! 2: shell.thickness must be > 0 m, got 0
local s = shell(sphere { radius = 1 }, 0)
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
