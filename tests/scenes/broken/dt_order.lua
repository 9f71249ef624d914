--! 4: dt_min must be <= dt_max = 0.001 s, got 0.01
return scene {
  talus = 1, engine = "grid", duration = 1,
  dt_max = 1e-3, dt_min = 1e-2,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
