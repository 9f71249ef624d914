--! 2: bodies[1].pressure is for elastic bodies; the material must be elastic
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 }, density = 1000, pressure = 5 }, { shape = box { size = 1 }, at = {3, 0, 0}, cells = {1, 1, 1}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }
