--! more
--! 3: grid.cells is missing
local s = scene { talus = 1, engine = "grid", duration = 1 }
s.grid = s
s.bodies = { s, s }
return s
