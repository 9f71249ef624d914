--! 4: sph.grain_viscosity must be from 0 to 1000, got -3
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, grain_viscosity = -3 },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
