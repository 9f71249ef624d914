--! 2: mirror must be one of "x", "y", "z", got "w"
local s = mirror(sphere { radius = 1 }, "w")
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
