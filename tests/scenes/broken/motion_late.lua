--! 4: bodies[1].motion(0.54625).at must be three numbers {x, y, z} in m, got a list with holes
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { at = {0, t < 0.5 and 0 or nil, 0} } end } } }
