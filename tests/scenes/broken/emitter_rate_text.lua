--! 5: emitters[1].rate must be a number >= 0 m^3/s, or a function of time, got "fast"
return scene {
  talus = 1, engine = "grid", duration = 1,
  emitters = {
    { material = preset "water", shape = box { size = 0.5 }, rate = "fast" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
