--! 5: fill[1].shape must be bounded, because the domain is not
return scene {
  talus = 1, engine = "sph", duration = 1,
  fill = {
    { material = preset "water", shape = plane {} } },
  sph = { spacing = 0.05 },
}
