--! 2: sph is missing; engine "sph" needs sph = { spacing = ... }
return scene {
  talus = 1, engine = "sph", duration = 1,
  bodies = { { shape = box { size = 0.2 }, at = {0.5, 0.5, 0.5}, density = 500 } },
}
