--! 2: mesh: cannot read
local s = mesh { file = "nothing.obj" }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
