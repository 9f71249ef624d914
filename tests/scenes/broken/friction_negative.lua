--! 4: bodies[1].friction(0) must be from 0 to 100, got -1
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 }, density = 1,
  friction = function(t) return -1 end } } }
