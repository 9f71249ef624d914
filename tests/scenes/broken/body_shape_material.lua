--! 5: bodies[1].shape must be a shape, such as box { size = {1, 1, 1} }, got a material
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = preset "wood", density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
