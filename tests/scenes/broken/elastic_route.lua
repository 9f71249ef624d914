--! 3: solver.elastic must be one of "schur", "schur-last", "g", "g-scaled", "g-matfree", "nf", "ic", "ucg", "ucg-mprgp", "admm", "ica", "sum", got "shur"; did you mean "schur"?
local m = elastic { density = 1000, young = 1e5, poisson = 0.3 }
return scene { talus = 1, engine = "grid", duration = 1, bodies = { { shape = box { size = 1 }, material = m } }, solver = { elastic = "shur" } }
