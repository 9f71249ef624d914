--! 4: bodies[1] (ball) has rolling or spinning friction, which scenes of bodies alone have, without sand or liquid
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { name = "ball", shape = sphere { radius = 0.1 }, density = 1000, at = {0.5, 0.8, 0.5}, spinning_friction = 0.01 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
  fill = { { material = preset "water", shape = box { size = {1, 0.3, 1}, center = {0.5, 0.15, 0.5} } } },
}
