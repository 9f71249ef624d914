--! 7: joints[1].motor is for hinges
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500 }, { name = "post", kind = "static", shape = box { size = 0.2 }, at = {1, 0, 0} },
             { name = "wall", kind = "static", shape = box { size = 0.2 }, at = {2, 0, 0} } },
  joints = {
    { kind = "ball", a = "arm", at = {0, 0, 0}, motor = { force = 1 } },
  },
}
