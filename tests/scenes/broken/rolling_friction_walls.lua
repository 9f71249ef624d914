--! 4: domain.rolling_friction must be from 0 to 1000 m, got -0.01
return scene {
  talus = 1, engine = "grid", duration = 1,
  domain = { min = {-1, 0, -1}, max = {1, 1, 1}, rolling_friction = -0.01 },
  bodies = { { shape = sphere { radius = 0.1 }, density = 1000, at = {0, 0.1, 0} } },
}
