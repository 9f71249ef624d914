--! 6: solver.sweeps is for engine = "grid", this scene has "lg"
--! 6: solver.pressure is for engine = "grid" or "sph", this scene has "lg"
--! 6: lg.chebyshev is for lg.global_step = "jacobi", which this scene does not have
return scene {
  talus = 1, engine = "lg", duration = 1,
  solver = { sweeps = 3, pressure = "cg" }, lg = { chebyshev = 0.9 },
  bodies = { { shape = box { size = 0.2 }, material = elastic { young = 1e5, poisson = 0.3, density = 1000 } } },
}
