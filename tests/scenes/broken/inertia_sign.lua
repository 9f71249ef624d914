--! 4: bodies[1].inertia must have principal moments > 0
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = sphere { radius = 1 }, mass = 1, inertia = {1, 1, 1}, inertia_products = {2, 0, 0} } },
}
