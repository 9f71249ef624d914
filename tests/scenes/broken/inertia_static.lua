--! 4: bodies[1].inertia is for rigid bodies that move freely
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { kind = "static", shape = sphere { radius = 1 }, mass = 1, inertia = {1, 1, 1} } },
}
