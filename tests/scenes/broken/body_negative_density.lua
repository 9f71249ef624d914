--! 7: bodies[1].density must be > 0 kg/m^3, got -2
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    {
      shape = box { size = 0.2 },
      density = -2,
    } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
