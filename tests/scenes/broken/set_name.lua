--! set bodies.plank.density=3
--! --set bodies.plank.density=3: no entry of the list is named 'plank'
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "board", shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } } }
