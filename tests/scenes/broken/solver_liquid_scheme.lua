--! 6: solver.scheme must be one of "p-c", "c-p", "t-pn", "t-p-n", "p-tn", "tn-pn" with liquids and rigid bodies, got "t-f-p-n"
return scene {
  talus = 1, engine = "grid", duration = 1, grid = { cells = {8, 8, 8}, cell = 0.1 },
  fill = { { material = liquid { density = 1000 }, shape = box { size = 0.3, center = {0.4, 0.4, 0.4} } } },
  solver = {
    scheme = "t-f-p-n",
  },
}
