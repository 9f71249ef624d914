--! 4: bodies[1].motion(0) must be a pose { ... }, got nothing
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 },
  motion = function(t) end } } }
