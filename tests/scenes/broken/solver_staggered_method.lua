--! 6: solver.friction must be one of "primal-dual", "jcsp", "jcsp-pyramid", "narain", "narain-printed", "box" with solver.stress "staggered", got "apgd"
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.1 },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = 0.4, center = {0.4, 0.2, 0.4} } } },
  solver = { stress = "staggered", friction = "apgd" },
}
