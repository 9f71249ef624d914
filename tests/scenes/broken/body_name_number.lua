--! 5: bodies[1].name must be a text, got 5
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { name = 5, shape = box { size = 0.2 }, density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
