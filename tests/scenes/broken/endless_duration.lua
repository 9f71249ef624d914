--! 3: duration must be from 1e-09 to 1000000 s
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 1e-320, fps = 50, dt_max = 0, dt_min = 0,
  grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
