--! 5: joints[1] has no length
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "ball", shape = sphere { radius = 0.1 }, density = 1000, at = {0, 1, 0} } },
  joints = { { kind = "distance", a = "ball", at_b = {0, 1, 0} } },
}
