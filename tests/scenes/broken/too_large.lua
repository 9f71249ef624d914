--! 5: dt_max must be <= 1e+15 s, got 1e+300
--! 6: bodies[1].mass must be <= 1e+15 kg, got 1e+300
--! 7: revolve: profile[1] must have a radius >= 0, got -1
return scene {
  talus = 1, engine = "lg", duration = 1, dt_max = 1e300,
  bodies = { { shape = sphere { radius = 1 }, mass = 1e300 },
             { shape = revolve { profile = { {-1, 0}, {1, 0}, {1, 1} } }, density = 1 } },
}
