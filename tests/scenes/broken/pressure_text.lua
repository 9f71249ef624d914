--! 2: bodies[1].pressure must be a number between -1e15 and 1e15 Pa, or a function of time, got "high"
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 }, cells = {1, 1, 1}, pressure = "high", material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }
