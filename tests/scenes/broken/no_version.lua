--! 2: talus is missing; it must be a whole number 1
return scene { engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
