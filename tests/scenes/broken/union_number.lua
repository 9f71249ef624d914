--! 2: union[2] must be a shape, got 5
local s = union { sphere { radius = 1 }, 5 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
