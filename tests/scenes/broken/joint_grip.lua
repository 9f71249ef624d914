--! 6: joints[1].a must be rigid, "jelly" is elastic: joints hold elastic bodies in engine "lg"
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500, at = {0.3, 0.7, 0.5} },
             { name = "jelly", shape = box { size = 0.2 }, at = {0.7, 0.7, 0.5}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } },
  joints = { { kind = "ball", a = "jelly", at = {0.7, 0.7, 0.5} } },
}
