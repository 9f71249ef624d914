--! set hieght=1
--! --set hieght=1: 'hieght' is not a key of a scene, nor a parameter of it; did you mean 'height'?
local p = params { height = 0.3 }
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 },
  bodies = { { name = "board", shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } } }
