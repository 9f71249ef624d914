--! 9: fps must be from 1e-06 to 1000000 1/s, got -1
--! 11: bodies[1].at must be three numbers {x, y, z} in m, got 3
--! 12: box.size[1] must be > 0 m, got -1
--! 13: bodies[1].denisty is not a key of a body; did you mean 'density'?
--! 14: bodies[1].restitution must be from 0 to 1, got 2
--! 11: bodies[1].density is missing
return scene {
  talus = 1, engine = "grid", duration = 1,
  fps = -1,
  bodies = {
    { at = 3,
      shape = box { size = {-1, 1, 1} },
      denisty = 5,
      restitution = 2 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
