--! 3: 1000000 s at 1000000 frames per second are 1e+12 frames, at most 1e+08
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 1e6, fps = 1e6, dt_max = 0, dt_min = 0,
  grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
