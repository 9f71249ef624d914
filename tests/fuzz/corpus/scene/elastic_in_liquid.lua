local m = elastic { density = 900, young = 1e4, poisson = 0.4 }
return scene { talus = 1, engine = "grid", duration = 0.02, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "jelly", shape = box { size = 0.3 }, at = {0.5, 0.3, 0.5}, material = m, cells = {2, 2, 2} } },
  fill = { { material = liquid { density = 1000 }, shape = plane { height = 0.6 } } },
  solver = { coupling = "cut", seal = false, offset = false, scheme = "pec-gs" },
}
