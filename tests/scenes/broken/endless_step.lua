--! 3: dt_max of 1e-300 s makes more than 1e+10 steps of 1 s
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 1, fps = 50, dt_max = 1e-300, dt_min = 0,
  grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
