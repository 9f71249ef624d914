--! 5: emitters[1].stop must be > emitters[1].start = 2 s, got 1
return scene {
  talus = 1, engine = "grid", duration = 1,
  emitters = {
    { material = preset "water", shape = box { size = 0.5 }, rate = 1, start = 2, stop = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
