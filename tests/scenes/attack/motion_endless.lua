--! 3: bodies[1].motion(0): the script did not end within its 200000 units of work
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 },
  motion = function(t) ::top:: goto top end } } }
