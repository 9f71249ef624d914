--! 4: sph.friction must be one of "implicit", "explicit", got "explicitly"; did you mean "explicit"?
return scene {
  talus = 1, engine = "sph", duration = 1,
  sph = { spacing = 0.02, friction = "explicitly" },
  bodies = { { shape = box { size = 0.2 }, density = 500 } },
}
