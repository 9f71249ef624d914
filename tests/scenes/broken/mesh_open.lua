--! 2: mesh: open.obj: a mesh must be closed to have a distance: 3 open edges
local m = mesh { file = "open.obj" }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = m, density = 1 } } }
