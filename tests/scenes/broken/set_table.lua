--! set grid=3
--! --set grid=3: grid is not a single value; name one inside of it
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "board", shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } } }
