--! 4: grid.periodic[1] must be true or false, got "yes"
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.125, periodic = {"yes", false, false} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
