--! 6: engine must be one of "grid", "sph", "lg", got "spf"; did you mean "sph"?
--! 11: bodies[2].name must be unique, got "a", which is also that of bodies[1]
--! 12: bodies[3].friction(0) must be from 0 to 100
--! 14: contacts[1].between must name materials, bodies or "walls", got "c"
return scene {
  talus = 1, engine = "spf", duration = 1,
  sph = { spacing = 0.1 },
  domain = { min = {0, 0, 0}, max = {1, 1, 1} },
  bodies = {
    { name = "a", shape = sphere { radius = 0.1 }, density = 1 },
    { name = "a", shape = sphere { radius = 0.1 }, density = 1 },
    { name = "b", shape = sphere { radius = 0.1 }, density = 1, friction = function(t) return -1 - t end },
  },
  contacts = { { between = {"a", "c"}, friction = 1 } },
}
