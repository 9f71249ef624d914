--! 2: mesh: cannot read
local m = mesh { file = "/etc/passwd" }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = m, density = 1 } } }
