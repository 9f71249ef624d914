--! 4: sph is for engine = "sph", this scene has "grid"
return scene {
  talus = 1, engine = "grid", duration = 1,
  sph = { spacing = 0.1 },
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
  grid = { cells = {8, 8, 8}, cell = 0.125 },
}
