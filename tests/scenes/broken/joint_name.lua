--! 6: joints[2].name must be unique
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "arm", shape = box { size = 0.2 }, density = 500 } },
  joints = { { name = "j", kind = "ball", a = "arm", at = {0, 0, 0} },
    { name = "j", kind = "ball", a = "arm", at = {0, 0.1, 0} } },
}
