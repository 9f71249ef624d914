--! 4: solver.pressure.method must be one of
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { pressure = { method = "simplex" } },
  fill = { { material = preset "water", shape = box { size = 0.5, center = {0.5, 0.3, 0.5} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
