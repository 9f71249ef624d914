--! 5: bodies[1].restitution must be from 0 to 1, got 1.5
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, restitution = 1.5 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
