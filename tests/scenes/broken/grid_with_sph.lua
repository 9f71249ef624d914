--! 4: grid is for engine = "grid", this scene has "sph"
return scene {
  talus = 1, engine = "sph", duration = 1,
  grid = { cells = {8, 8, 8}, cell = 0.1 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  sph = { spacing = 0.05 },
}
