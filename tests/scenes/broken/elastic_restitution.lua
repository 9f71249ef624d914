--! 3: bodies[1].restitution must be 0 for elastic bodies of engine "grid", got 0.5: nodes that touch do not bounce, the body does by its own elasticity
local m = elastic { density = 1000, young = 1e5, poisson = 0.3 }
return scene { talus = 1, engine = "grid", duration = 1, bodies = { { shape = box { size = 1 }, material = m, restitution = 0.5 } } }
