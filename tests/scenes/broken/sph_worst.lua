--! 4: sph.worst must be from 0 to 1000000, got -3
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, worst = -3 },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
