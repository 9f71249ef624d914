--! 5: solver.pressure must be one of "multigrid", "mic", "multigrid-double", "cg-multigrid", "cg-mic", "cg", "mprgp", "mprgp-original", "admm", "pip", "auglag" with liquids of engine "grid", got "nncg"
return scene {
  talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.3, center = {0.4, 0.4, 0.4} } } },
  solver = { pressure = "nncg" },
}
