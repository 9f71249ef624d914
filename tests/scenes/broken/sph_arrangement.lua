--! 4: sph.arrangement must be from 0 to 2, got -3
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, arrangement = -3 },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
