--! set bodies.board.density=heavy
--! --set bodies.board.density=heavy: bodies[1].density must be a number > 0 kg/m^3, got "heavy"
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "board", shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } } }
