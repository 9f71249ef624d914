--! 2: engine must be one of "grid", "sph", "lg", got "grd"; did you mean "grid"?
return scene { talus = 1, engine = "grd", duration = 1, bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } }, }
