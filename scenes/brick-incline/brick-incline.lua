-- A brick, 0.4 x 0.4 x 0.1 m, on an incline with friction 0.5. The ground stays level and gravity is tilted by `angle`, towards `azimuth`
-- from the x axis, so that the contacts and their axes are the same for every direction. `push` is a force along that direction, N.
local p = params { angle = 20.0, azimuth = 0.0, push = 0.0, friction = 0.5 }
local b, a = math.rad(p.angle), math.rad(p.azimuth)

return scene {
  talus = 1, engine = "grid",
  title = "Brick on an incline of " .. p.angle .. " degrees",
  about = "friction to 0.5 percent: when a brick starts to slide, how fast, and that it does not creep before",
  minutes = 0.1,
  duration = size == "paper" and 10 or 2, fps = 50, dt_max = 0.01,
  gravity = {9.81 * math.sin(b) * math.cos(a), -9.81 * math.cos(b), 9.81 * math.sin(b) * math.sin(a)},
  bodies = {
    { name = "ground", kind = "static", shape = plane {}, friction = p.friction },
    { name = "brick", shape = box { size = {0.4, 0.1, 0.4} }, mass = 16, friction = p.friction, colour = "#a8513a",
      at = {0, 0.05, 0}, force = {p.push * math.cos(a), 0, p.push * math.sin(a)} },
  },
  camera = { eye = {1.3, 0.9, 1.9}, target = {0.2, 0, 0.1} },
}
