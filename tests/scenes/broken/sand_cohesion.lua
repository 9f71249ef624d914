--! 3: granular.cohesion must be from 0 to 1000000000 Pa, got -1
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  fill = { { material = granular { density = 1600, friction_angle_deg = 50, cohesion = -1 },
    shape = box { size = 0.3, center = {0.5, 0.3, 0.5} } } } }
