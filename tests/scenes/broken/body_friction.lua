--! 5: bodies[1].friction must be from 0 to 100, got -0.1
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, friction = -0.1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
