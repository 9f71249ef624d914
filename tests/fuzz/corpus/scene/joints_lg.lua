return scene { talus = 1, engine = "lg", duration = 1,
  bodies = { { name = "a", shape = box { size = 0.2 }, density = 500, at = {-0.2, 0, 0} }, { name = "b", shape = box { size = 0.2 }, cells = {1, 1, 1}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } },
  joints = { { name = "h", kind = "hinge", a = "a", b = "b", at = {-0.1, 0, 0}, axis = {0, 0, 1}, grip = 0.2, limits = {-1, 1}, motor = { speed = 1, max = 2 } },
    { kind = "rope", a = "b", at_b = {0, 1, 0}, length = 1.5, grip = 0.2, breaks_at = 100 } } }
