--! 4: solver.on_unconverged must be one of "accept", "shrink_dt", "fail", got "ignore"
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { on_unconverged = "ignore" },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
