--! 4: domain.max must be > domain.min on every axis, got a box of {1, -1, 1} m
return scene {
  talus = 1, engine = "sph", duration = 1,
  domain = { min = {0, 0, 0}, max = {1, -1, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  sph = { spacing = 0.05 },
}
