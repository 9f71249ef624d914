--! 3: granular.grain_size must be > 0 m with dynamic_friction_angle_deg
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30, dynamic_friction_angle_deg = 35 },
    shape = box { size = 0.3, center = {0.5, 0.3, 0.5} } } } }
