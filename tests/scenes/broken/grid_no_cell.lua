--! 4: grid.cell is missing; it must be a number from 1e-09 to 1000000000 m
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
