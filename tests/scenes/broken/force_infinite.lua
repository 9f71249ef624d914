--! 4: bodies[1].force(0)[2] must be between -1e15 and 1e15 N, got inf
return scene { talus = 1, engine = "lg", duration = 1, bodies = { {
  shape = box { size = 1 }, density = 1,
  force = function(t) return {0, 1/t, 0} end } } }
