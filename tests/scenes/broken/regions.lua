--! 7: regions[1].body must name a body, got "sole"
--! 8: regions[2].material must be elastic
--! 9: regions[3].region must be a whole number
return scene {
  talus = 1, engine = "lg", duration = 1,
  regions = {
    { body = "sole", region = 1, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } },
    { body = "ball", region = 1, material = solid { density = 1000 } },
    { body = "ball", region = 1.5, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } },
  },
  bodies = { { name = "ball", shape = sphere { radius = 0.1 }, material = elastic { density = 1000, young = 1e6, poisson = 0.3 } } },
}
