--! 2: elastic.damping must be from 0 to 1000000 s, got -1
local m = elastic { density = 1000, young = 1e5, poisson = 0.3, damping = -1 }
return scene { talus = 1, engine = "grid", duration = 1, bodies = { { shape = box { size = 1 }, material = m } } }
