--! more
--! 7: contacts[1].between must name materials, bodies or "walls", got "a"
--! 9: the scene has more tables or more problems than are read
local bodies, contacts, shape = {}, {}, sphere { radius = 1 }
for i = 1, 20000 do
  bodies[i] = { shape = shape, density = 1 }
  contacts[i] = { between = {"a", "b"}, friction = 1 }
end
return scene { talus = 1, engine = "lg", duration = 1, bodies = bodies, contacts = contacts }
