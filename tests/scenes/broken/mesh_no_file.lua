--! 2: mesh.file is missing; it must be a text
local s = mesh {}
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
