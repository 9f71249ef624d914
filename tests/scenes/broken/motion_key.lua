--! 4: bodies[1].motion(0).rotaton_rad is not a key of a pose; did you mean 'rotation_rad'?
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) return { rotaton_rad = {0, 0, t} } end } } }
