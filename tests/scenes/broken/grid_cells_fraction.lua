--! 4: grid.cells[2] must be a whole number from 1 to 4096, got 8.5
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8.5, 8}, cell = 0.1 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
