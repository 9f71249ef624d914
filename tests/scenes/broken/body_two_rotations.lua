--! 5: bodies[1] has both rotation and rotation_deg; give one of them
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, rotation_deg = {0, 0, 9}, rotation = {1, 0, 0, 0} } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
