--! 4: contacts[1].between must be two names {"a", "b"}, got "walls"
return scene {
  talus = 1, engine = "grid", duration = 1,
  contacts = { { between = "walls", friction = 1 } },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
