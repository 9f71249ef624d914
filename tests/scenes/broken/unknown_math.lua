--! 2: there is no 'math.sine'; did you mean 'math.sin'?
local s = sphere { radius = math.sine(1) }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
