--! 4: bodies[1].sand_friction must be one of "material", "own", got "smooth"
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { kind = "static", shape = box { size = 0.2 }, friction = 0.1, sand_friction = "smooth" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
