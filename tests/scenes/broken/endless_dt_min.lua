--! 3: dt_min must be at most a frame of 0.02 s, got 0.5
local m = liquid { density = 1000 }
return scene { talus = 1, engine = "grid", duration = 1, fps = 50, dt_max = 0, dt_min = 0.5,
  grid = { cells = {8, 8, 8}, cell = 0.1 }, fill = { { material = m, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } } }
