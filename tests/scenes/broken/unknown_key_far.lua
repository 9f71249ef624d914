--! 4: banana is not a key of a scene; there are talus, engine, title
return scene {
  talus = 1, engine = "grid", duration = 1,
  banana = 1,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
