--! 5: fill[1].spacing must be >= 0 m, got -0.1
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = {
    { material = preset "water", shape = box { size = 1 }, spacing = -0.1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
