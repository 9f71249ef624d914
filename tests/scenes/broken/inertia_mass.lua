--! 4: bodies[1].inertia needs a mass
return scene {
  talus = 1, engine = "grid", duration = 1,
  bodies = { { shape = sphere { radius = 1 }, density = 1, inertia = {1, 1, 1} } },
}
