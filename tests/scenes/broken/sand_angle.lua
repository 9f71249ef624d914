--! 2: granular.friction_angle_deg must be from 0 to 89 degrees, got 95
local sand = granular { density = 1600, friction_angle_deg = 95 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, fill = { { material = sand, shape = box { size = 1 } } } }
