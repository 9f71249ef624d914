--! 4: bodies[1].motion(0.5
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { at = {0, t < 0.5 and 0 or nil, 0} } end } } }
