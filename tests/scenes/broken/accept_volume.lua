--! 4: accept.volume must be > 0, got 0
return scene {
  talus = 1, engine = "grid", duration = 1,
  accept = { volume = 0 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
