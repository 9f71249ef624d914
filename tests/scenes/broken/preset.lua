--! 2: preset must be one of "water", "honey", "dry sand", "gravel", "rubber", "wood", "steel", "ice", got "watr"; did you mean "water"?
local m = preset "watr"
return scene { talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.125 }, fill = { { material = m, shape = box { size = 1 } } } }
