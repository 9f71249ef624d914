--! 5: fill[1].material must be granular, liquid or viscous, got solid
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = {
    { material = preset "steel", shape = box { size = 0.2 } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
