--! 2: elastic.model must be one of "stable_neo_hookean", "neo_hookean", "arap", "corotated", "stable_neo_hookean_nolog", got "neo-hookean"; did you mean "neo_hookean"?
local m = elastic { density = 1000, young = 1e5, poisson = 0.3, model = "neo-hookean" }
return scene { talus = 1, engine = "lg", duration = 1, bodies = { { shape = box { size = 1 }, material = m } } }
