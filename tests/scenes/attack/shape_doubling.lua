--! 3: union visits 131071 primitives for each point, at most 100000 are allowed
local s = sphere { radius = 1 }
for i = 1, 60 do s = s + s end
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
