--! 5: bodies[1].rotation.axis must not be zero, got {0, 0, 0}
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, rotation = { axis = {0, 0, 0}, angle_deg = 3 } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
