--! 6: bodies[2].name must be unique, got "a", which is also that of bodies[1]
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { name = "a", shape = box { size = 0.2 }, density = 1 },
    { name = "a", shape = box { size = 0.2 }, density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
