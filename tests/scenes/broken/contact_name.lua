--! 4: contacts[1].between must name materials, bodies or "walls", got "bord"; did you mean "board"?
return scene {
  talus = 1, engine = "grid", duration = 1,
  contacts = { { between = {"bord", "walls"}, friction = 0.1 } },
  bodies = { { name = "board", shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
