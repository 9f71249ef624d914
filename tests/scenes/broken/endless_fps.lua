--! 3: fps must be from 1e-06 to 1000000 1/s
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 1, fps = 4.9e-324, dt_max = 0.01, dt_min = 0,
  grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
