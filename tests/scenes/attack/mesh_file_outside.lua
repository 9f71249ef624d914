--! 2: lies outside of the folder
local m = mesh { file = "../../../LICENSE" }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = m, density = 1 } } }
