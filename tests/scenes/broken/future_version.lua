--! 2: talus must be 1, got 2
return scene { talus = 2, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
