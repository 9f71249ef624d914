--! 2: duration is missing; it must be a number from 1e-09 to 1000000 s
return scene { talus = 1, engine = "grid", grid = { cells = {8, 8, 8}, cell = 0.125 }, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
