--! 3: bodies[1].motion(0): a function of time cannot make shapes, materials or bodies
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 },
  motion = function(t) return sphere { radius = t } end } } }
