--! 2: lg.budget_ms must be from 0 to 1000000000 ms, got -5
return scene { talus = 1, engine = "lg", duration = 1, lg = { budget_ms = -5 }, bodies = { { shape = box { size = 1 }, cells = {1, 1, 1}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } } }
