--! 6: joints are for scenes without elastic bodies; here "jelly" is elastic
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500 },
             { name = "jelly", shape = box { size = 0.2 }, at = {1, 0, 0}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } },
  joints = { { kind = "ball", a = "arm", at = {0, 0, 0} } },
}
