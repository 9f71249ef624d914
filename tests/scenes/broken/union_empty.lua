--! 2: union needs shapes: the shapes to join
local s = union {}
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
