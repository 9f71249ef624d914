--! 5: bodies[1].material must be solid with engine "sph", got elastic
return scene {
  talus = 1, engine = "sph", duration = 1,
  bodies = {
    { shape = box { size = 0.2 }, material = preset "rubber" } },
  sph = { spacing = 0.05 },
}
