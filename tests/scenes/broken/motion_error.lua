--! 5: bodies[1].motion(0): attempt to index a nil value
local nothing
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { at = nothing.x } end } } }
