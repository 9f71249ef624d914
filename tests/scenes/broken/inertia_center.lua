--! 4: bodies[1].center_of_mass needs an inertia
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = sphere { radius = 1 }, mass = 1, center_of_mass = {0, 1, 0} } },
}
