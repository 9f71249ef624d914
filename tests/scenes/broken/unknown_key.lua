--! 4: gravty is not a key of a scene; did you mean 'gravity'?
return scene {
  talus = 1, engine = "grid", duration = 1,
  gravty = {0, -9.81, 0},
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
