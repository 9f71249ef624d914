--! 5: bodies[1].velocity is for free bodies, this one is static
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, kind = "static", velocity = {1, 0, 0} } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
