--! 4: domain.y_max must be one of "closed", "open", got "shut"
return scene {
  talus = 1, engine = "grid", duration = 1,
  domain = { y_max = "shut" },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
