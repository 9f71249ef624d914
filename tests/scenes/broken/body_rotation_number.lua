--! 5: bodies[1].rotation must be a rotation: {w, x, y, z} or { axis = {x, y, z}, angle_deg = a }, got 90
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 2, rotation = 90 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
