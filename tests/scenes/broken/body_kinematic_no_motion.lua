--! 5: bodies[1].motion is missing; a kinematic body needs a function of time that returns { at = ..., rotation = ... }
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, kind = "kinematic" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
