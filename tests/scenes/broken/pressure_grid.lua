--! 2: bodies[1].pressure is for engine = "lg", this scene has "grid"
return scene { talus = 1, engine = "grid", duration = 1, bodies = { { shape = box { size = 1 }, pressure = 5, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }
