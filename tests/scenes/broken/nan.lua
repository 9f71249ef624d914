--! 4: fps must be from 1e-06 to 1000000 1/s, got
return scene {
  talus = 1, engine = "grid", duration = 1,
  fps = 0/0,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
