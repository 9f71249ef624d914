--! 2: smooth_union.blend is missing; it must be a number > 0 m
local s = smooth_union { sphere { radius = 1 }, box { size = 1 } }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = s, density = 1 } } }
