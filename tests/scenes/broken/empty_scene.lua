--! 2: the scene is empty; it needs fill, emitters or bodies
return scene {
  talus = 1, engine = "grid", duration = 1,
  title = "nothing",
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
