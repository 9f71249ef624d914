--! 5: domain: the grid is periodic along x, so it has no wall there to open
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.125, periodic = {true, false, false} },
  domain = { x_min = "open" },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
