--! 4: sph.spacing must be from 1e-09 to 1000000000 m
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 1e-300 }, domain = { min = {0, 0, 0}, max = {1, 1, 1} },
  fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
