--! 5: bodies[1].density is missing; a free body needs a density > 0 kg/m^3, a mass > 0 kg, or a material
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
