--! 4: grid.cells[3] is 1, the 2D mode, so grid.periodic[3] must be true, got false
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 1}, cell = 0.125 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
