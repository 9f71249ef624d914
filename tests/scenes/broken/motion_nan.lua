--! 4: bodies[1].motion(0).at[1] must be between -1e15 and 1e15 m, got
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { at = {0/0, 0, 0} } end } } }
