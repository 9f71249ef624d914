--! 5: bodies[1].rotation must have angle_deg or angle_rad, got neither
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, rotation = { axis = {0, 1, 0} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
