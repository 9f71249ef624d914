--! 4: solver.pressure.inner.precond must be one of "none", "jacobi", "ssor", "ic", "mic", got "amg"
return scene {
  talus = 1, engine = "grid", duration = 1,
  solver = { pressure = { method = "admm", inner = { method = "cg", precond = "amg" } } },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
