--! 4: camera.target must differ from camera.eye, got the same point
return scene {
  talus = 1, engine = "grid", duration = 1,
  camera = { eye = {1, 1, 1}, target = {1, 1, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
