--! 5: fill[1].material must be liquid or viscous with engine "sph", got granular
return scene {
  talus = 1, engine = "sph", duration = 1,
  fill = {
    { material = preset "dry sand", shape = box { size = 1 } } },
  sph = { spacing = 0.05 },
}
