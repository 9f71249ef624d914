--! 4: gravity[2] must be a number between -1e15 and 1e15 m/s^2, got "down"
return scene {
  talus = 1, engine = "grid", duration = 1,
  gravity = {0, "down", 0},
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
