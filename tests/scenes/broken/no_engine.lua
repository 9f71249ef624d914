--! 2: engine is missing; it must be one of "grid", "sph", "lg"
return scene { talus = 1, duration = 1, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
