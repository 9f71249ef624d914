--! 4: render.range must be {low, high} with low <= high, got {2, 1}
return scene {
  talus = 1, engine = "grid", duration = 1,
  render = { range = {2, 1} },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
