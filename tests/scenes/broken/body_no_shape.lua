--! 5: bodies[1].shape is missing; it must be a shape, such as box { size = {1, 1, 1} }
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
