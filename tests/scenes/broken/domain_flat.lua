--! 4: domain.max must be > domain.min on every axis, got a box of {2, 0, 2} m
return scene {
  talus = 1, engine = "grid", duration = 1,
  domain = { min = {-1, 0, -1}, max = {1, 0, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
