--! 2: shape_file: cannot read
local s = shape_file "nothing"
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
