--! 2: sphere.raduis is not a key of a sphere; did you mean 'radius'?
local s = sphere { radius = 1, raduis = 1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
