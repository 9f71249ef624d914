--! 4: bodies[1].force(0) must be three numbers {x, y, z} in N, got a list of 2
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 }, density = 1,
  force = function(t) return {1, 2} end } } }
