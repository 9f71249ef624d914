--! 6: solver.scheme must be one of "pf-c", "c-pf", "t-f-pn", "t-f-p-n", "f-p-c" with sand and rigid bodies, got "t-p-n"
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.1 },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } },
  solver = { scheme = "t-p-n" },
}
