--! 5: bodies[1].anchor is for elastic bodies; the material must be elastic
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, density = 1, anchor = sphere { radius = 0.1 } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
