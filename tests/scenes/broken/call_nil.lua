--! 2: attempt to concatenate a nil value
local s = nil .. "x"
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
