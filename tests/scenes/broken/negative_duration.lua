--! 2: duration must be from 1e-09 to 1000000 s, got -1
return scene { talus = 1, engine = "grid", duration = -1, grid = { cells = {8, 8, 8}, cell = 0.125 }, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
