--! 4: grid.mixture must be one of "none", "mud", got "slurry"
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {16, 16, 16}, cell = 0.05, mixture = "slurry" },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = {0.4, 0.2, 0.4}, center = {0.4, 0.3, 0.4} } } },
}
