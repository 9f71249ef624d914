--! 4: camera.target is missing; it must be three numbers {x, y, z} in m
return scene {
  talus = 1, engine = "grid", duration = 1,
  camera = { eye = {1, 1, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
