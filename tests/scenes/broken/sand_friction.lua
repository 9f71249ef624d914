--! 2: granular.friction is not a key of a granular material; did you mean 'friction_angle_deg'?
local sand = granular { density = 1600, friction_angle_deg = 30, friction = 0.5 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, fill = { { material = sand, shape = box { size = 1 } } } }
