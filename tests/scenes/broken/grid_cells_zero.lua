--! 4: grid.cells[3] must be from 1 to 4096, got 0
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 0}, cell = 0.1 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
