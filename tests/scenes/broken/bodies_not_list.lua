--! 4: bodies must be a list { {...}, {...} }, got the key "shape"
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { shape = box { size = 0.2 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
