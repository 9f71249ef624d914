--! 4: solver.cone is for engine = "grid", this scene has "sph"
return scene {
  talus = 1, engine = "sph", duration = 1,
  solver = { cone = "exact" },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  sph = { spacing = 0.05 },
}
