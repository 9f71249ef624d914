--! 2: revolve.profile[2] must be two numbers {low, high}, got a list of 3
local s = revolve { profile = { {0, 0}, {1, 0, 0}, {1, 1} } }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
