--! 5: bodies[1].motion must be a function of time that returns { at = ..., rotation = ... }, got a table
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, motion = { at = {0, 0, 0} } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
