--! 6: solver.scheme must be
local m = elastic { density = 1000, young = 1e4, poisson = 0.4 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "jelly", shape = box { size = 0.2 }, at = {0.5, 0.8, 0.5}, material = m } },
  fill = { { material = viscous { density = 1000, viscosity = 10 }, shape = plane { height = 0.3 } } },
  solver = { scheme = "pec-gs" },
}
