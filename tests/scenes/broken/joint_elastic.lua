--! 9: joints are not for elastic bodies in what flows; here "jelly" is elastic
return scene {
  talus = 1, engine = "grid", duration = 1,
  grid = { cells = {10, 10, 10}, cell = 0.1 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = {1, 0.2, 1}, center = {0.5, 0.1, 0.5} } } },
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500, at = {0.3, 0.7, 0.5} },
             { name = "jelly", shape = box { size = 0.2 }, at = {0.7, 0.7, 0.5}, material = elastic { density = 1000, young = 1e5, poisson = 0.3 } } },
  joints = {
    { kind = "ball", a = "arm", at = {0.3, 0.7, 0.5} } },
}
