--! 2: grid_of.count must be a whole number from 1 to 100000
return scene { talus = 1, engine = "lg", duration = 1, bodies = grid_of { count = {2, 0, 2}, spacing = 1, body = { shape = box { size = 1 }, density = 1 } } }
