--! 5: bodies[1] must be a body { ... }, got 7
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    7 },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
