--! 2: elastic.poisson must be from 0 to 0.4999, got 0.5
local m = elastic { density = 1000, young = 1e5, poisson = 0.5 }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 }, material = m } } }
