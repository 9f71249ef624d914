--! 2: granular.density is missing; it must be a number > 0 kg/m^3
local sand = granular { friction_angle_deg = 35 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, fill = { { material = sand, shape = box { size = 1 } } } }
