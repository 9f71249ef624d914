--! 5: fill[1].material must be a material, such as preset "water", got "water"
return scene {
  talus = 1, engine = "grid", duration = 1,
  fill = {
    { material = "water", shape = box { size = 0.2 } } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
