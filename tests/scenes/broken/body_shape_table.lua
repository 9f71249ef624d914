--! 6: bodies[1].shape must be a shape, such as box { size = {1, 1, 1} }, got a table
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    {
      shape = { size = 1 },
      density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
