--! 5: bodies[1].restitution must be 0 with engine "sph", where nothing bounces; got 0.5
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02 },
  bodies = { { shape = box { size = 0.2 }, density = 500, restitution = 0.5 } },
}
