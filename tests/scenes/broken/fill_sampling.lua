--! 5: fill[1].sampling must be one of "lattice", "jitter", "blue_noise", got "blue"
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = {
    { material = preset "water", shape = box { size = 1 }, sampling = "blue" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
