--! 4: gravity must be three numbers {x, y, z} in m/s^2, got a table
return scene {
  talus = 1, engine = "grid", duration = 1,
  gravity = { x = 0, y = -9.81, z = 0 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
