--! 5: bodies[1].rotation must be a unit quaternion {w, x, y, z}, got length 2
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, rotation = {2, 0, 0, 0} } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
