--! 5: emitters[1].rate must be >= 0 m^3/s, got -1
return scene {
  talus = 1, engine = "grid", duration = 1,
  emitters = {
    { material = preset "water", shape = box { size = 0.5 }, rate = -1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
