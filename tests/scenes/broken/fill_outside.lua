--! 5: fill[1].shape must overlap the domain, {0, 0, 0} to {1, 1, 1} m, got one from {1.9, 1.9, 1.9} to {2.1, 2.1, 2.1}
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = {
    { material = preset "water", shape = box { size = 0.2, center = {2, 2, 2} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
