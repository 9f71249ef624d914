-- A wooden block on a slope: it rests below the friction angle, 26.565 degrees for 0.5, and slides above it.
-- The way down points along x, turned by `azimuth` about the vertical.
local p = params { angle = 26.0, azimuth = 0.0, friction = 0.5 }
local b, a = math.rad(p.angle), math.rad(p.azimuth)
local normal = {math.sin(b) * math.cos(a), math.cos(b), math.sin(b) * math.sin(a)}
local height = 0.2

return scene {
  talus = 1, engine = "grid",
  title = "Block on a slope of " .. p.angle .. " degrees",
  about = "a block rests on a slope below the friction angle and slides above it",
  minutes = 0.1,
  duration = size == "paper" and 5 or 2, fps = 50, dt_max = 0.01,
  bodies = {
    { name = "slope", kind = "static", shape = half_space { normal = normal }, friction = p.friction, colour = "#b9b4a8" },
    { name = "block", shape = box { size = {0.4, height, 0.4} }, mass = 10, friction = p.friction, colour = "#c19a6b",
      at = {0.5 * height * normal[1], 0.5 * height * normal[2], 0.5 * height * normal[3]},
      rotation = { axis = {math.sin(a), 0, -math.cos(a)}, angle_deg = p.angle } },
  },
  camera = { eye = {1.2, 1.1, 2.6}, target = {0.5, -0.1, 0}, fov_deg = 35 },
  render = { ground = false },
}
