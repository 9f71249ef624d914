--! 2: half_space: normal must not be zero, got {0, 0, 0}
local s = half_space { normal = {0, 0, 0} }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
