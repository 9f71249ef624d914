--! 5: bodies[1].material must be solid or elastic, got granular
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, material = preset "dry sand" } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
