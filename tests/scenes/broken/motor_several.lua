--! 7: joints[1].motor must have one of force, speed and position, got several
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500 }, { name = "post", kind = "static", shape = box { size = 0.2 }, at = {1, 0, 0} },
             { name = "wall", kind = "static", shape = box { size = 0.2 }, at = {2, 0, 0} } },
  joints = {
    { kind = "hinge", a = "arm", at = {0, 0, 0}, axis = {0, 0, 1}, motor = { force = 1, speed = 1 } },
  },
}
