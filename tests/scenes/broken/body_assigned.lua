--! 4: bodies[1].mass must be > 0 kg, got 0
local b = { shape = box { size = 0.2 } }
b.at = {0.5, 0.5, 0.5}
b.mass = 0
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, bodies = { b } }
