--! 4: bodies[1].liquid_slip must be true or false, got "yes"
return scene {
  talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 },
  bodies = { { kind = "static", shape = box { size = 0.2 }, liquid_slip = "yes" } },
  fill = { { material = viscous { density = 1000, viscosity = 10 }, shape = box { size = 0.2 } } },
}
