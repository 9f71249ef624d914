--! 5: bodies[1].frction is not a key of a body; did you mean 'friction'?
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, frction = 1 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
