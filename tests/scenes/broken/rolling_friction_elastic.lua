--! 4: bodies[1] (ball) is elastic and has rolling or spinning friction, which acts between rigid bodies; what deforms resists rolling by itself
return scene { talus = 1, engine = "grid", duration = 1,
  bodies = {
    { name = "ball", shape = sphere { radius = 0.1 }, rolling_friction = 0.01, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } },
  } }
