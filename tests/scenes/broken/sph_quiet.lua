--! 4: sph.quiet must be from 0 to 1, got -3
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, quiet = -3 },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
