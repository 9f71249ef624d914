--! 5: solver.pressure must be one of "nncg", "jacobi", "interlinked" with engine "sph", got "multigrid"
return scene {
  talus = 1, engine = "sph", duration = 1, sph = { spacing = 0.05 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.3, center = {0.4, 0.4, 0.4} } } },
  solver = { pressure = "multigrid" },
}
