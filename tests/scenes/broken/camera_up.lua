--! 4: camera.up must not be zero or along the view, got {0, 1, 0}
return scene {
  talus = 1, engine = "grid", duration = 1,
  camera = { eye = {0, 5, 0}, target = {0, 0, 0} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
