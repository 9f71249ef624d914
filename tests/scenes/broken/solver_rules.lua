--! 4: solver.rules.closed_sliver is not a key of rules of sand; did you mean 'closed_slivers'?
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { rules = { closed_sliver = false } },
  fill = { { material = granular { density = 1600, friction_angle_deg = 30 }, shape = box { size = 0.2, center = {0.5, 0.1, 0.5} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
