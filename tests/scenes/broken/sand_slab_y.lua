--! 3: grid.cells[2] must be > 1 with sand, got 1: a slab of sand is one cell thick along x or z, because s_yy is the part of the stress that is eliminated
return scene { talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 1, 8}, cell = 0.1, periodic = {false, true, false} },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = {0.4, 0.1, 0.4}, center = {0.4, 0.05, 0.4} } } } }
