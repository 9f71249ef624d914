--! 2: ring_of.body must be a body { ... } or a function that returns one
return scene { talus = 1, engine = "lg", duration = 1, bodies = ring_of { count = 2, radius = 1, body = 5 } }
