--! 6: bodies[1].material.model must be stable_neo_hookean or stable_neo_hookean_nolog with engine "grid", got arap, which is one of engine "lg"
--! 7: bodies[2].thickness is for engine = "lg", this scene has "grid"
--! 8: fem.elements must be one of "auto", "smoothed", "tets", got "hex"
local jelly = elastic { density = 1000, young = 1e4, poisson = 0.4 }
return scene { talus = 1, engine = "grid", duration = 1, bodies = {
  { shape = box { size = 0.2 }, material = elastic { density = 1000, young = 1e4, poisson = 0.4, model = "arap" } },
  { shape = box { size = 0.2 }, at = {0.5, 0.8, 0.5}, material = jelly, thickness = 0.1 } },
  fem = { elements = "hex" },
}
