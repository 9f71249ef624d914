--! 3: granular.angle_means = "slope" is for angles up to 45 degrees, got 50
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  fill = { { material = granular { density = 1600, friction_angle_deg = 50, angle_means = "slope" },
    shape = box { size = 0.3, center = {0.5, 0.3, 0.5} } } } }
