return scene { talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "a", shape = box { size = 0.2 }, density = 500 }, { name = "b", shape = box { size = 0.2 }, at = {0.3, 0, 0}, density = 500 } },
  joints = { { name = "h", kind = "hinge", a = "a", b = "b", at = {0.15, 0, 0}, axis = {0, 0, 1}, limits = {-1, 1}, friction = 0.1, motor = { position = function(t) return t end, stiffness = 5, damping = 1, max = 2 } },
    { kind = "rope", a = "a", at_b = {0, 1, 0}, length = 1.5, breaks_at = 100 }, { kind = "gear", a = "a", b = "b", axis = {0, 0, 1}, ratio = -2 } } }
