--! 2: there is no 'spere'; did you mean 'sphere'?
local s = spere { radius = 1 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
