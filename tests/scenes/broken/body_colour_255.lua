--! 5: bodies[1].colour[1] must be from 0 to 1, got 255
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, colour = {255, 0, 0} } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
