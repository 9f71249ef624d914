--! 4: solver.pressure.method must be one of
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { pressure = { method = "simplex" } },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
