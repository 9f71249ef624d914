--! 5: bodies[1].density must be > 0 kg/m^3, got -1
--! 6: bodies[2].name must be unique, got "a"
return scene {
  talus = 1, engine = "lg", duration = 1, bodies = {
    { name = "a", shape = shape_file "duck", density = -1 },
    { name = "a", shape = box { size = 1 }, density = 1 },
  },
}
