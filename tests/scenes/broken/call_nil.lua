--! 2: attempt to
local s = nil .. "x"
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
