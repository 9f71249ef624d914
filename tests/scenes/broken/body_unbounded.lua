--! 5: bodies[1].shape must be bounded, because the body is free; write kind = "static", or cut the shape off
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = plane { height = 0 }, density = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
