--! 4: grid.cells must be at most 1e9 cells together, got 6.87e+10
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {4096, 4096, 4096}, cell = 0.1 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
