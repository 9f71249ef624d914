--! 4: bodies[1].density must be > 0 kg/m^3, got -1 (and 4 more like this)
return scene { talus = 1, engine = "lg", duration = 1,
  bodies = stack_of { count = 5, step = 1,
    body = { shape = box { size = 1 }, density = -1 } } }
