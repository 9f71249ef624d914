--! 4: sph.fit must be true or false
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, fit = "yes" },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
