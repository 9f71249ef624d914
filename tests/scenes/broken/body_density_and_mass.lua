--! 5: bodies[1] has both density and mass; give one of them
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, mass = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
