--! 2: revolve.profile must be a list of 3 to 1024 points {a, b}, got a list of 2
local s = revolve { profile = { {0, 0}, {1, 0} } }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
