--! 4: solver.pressure.inner is not a key of a pressure method; there are method, tolerance, iterations
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { pressure = { method = "admm", inner = { method = "cg", precond = "amg" } } },
  fill = { { material = preset "water", shape = box { size = 0.5, center = {0.5, 0.3, 0.5} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
