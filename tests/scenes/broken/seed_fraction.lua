--! 4: seed must be a whole number >= 0, got 1.5
return scene {
  talus = 1, engine = "grid", duration = 1,
  seed = 1.5,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
