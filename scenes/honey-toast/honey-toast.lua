-- Honey runs in a thin rope onto a slice of toast and coils.
local paper = size == "paper"
local p = params { cells = paper and 600 or 300, viscosity = 50, height = 0.06, radius = 0.009, speed = 0.25, duration = 2.4 } -- cells per metre
local h = 1 / p.cells
local honey = viscous { name = "honey", density = 1400, viscosity = p.viscosity, colour = "#d98a1c" }
local top = 0.02 + p.height
local crust = { box { size = {0.088, 0.016, 0.088} }, box { size = {0.1, 0.016, 0.06} } }

return scene {
  talus = 1, engine = "grid",
  title = "Honey on toast",
  about = "a rope of honey coils on a slice of toast",
  minutes = paper and 120 or 8,
  duration = p.duration, fps = 25,
  grid = { cells = {36 * p.cells // 300, 30 * p.cells // 300, 36 * p.cells // 300}, cell = h, origin = {-0.06, 0, -0.06} },
  bodies = { { name = "toast", kind = "static", shape = union(crust), at = {0, 0.011, 0}, colour = "#b9783b" } },
  emitters = { { material = honey, shape = cylinder { radius = p.radius, height = 0.01, center = {0, top, 0} },
    velocity = {0, -p.speed, 0}, rate = math.pi * p.radius ^ 2 * p.speed } },
  render = { walls = "none" },
  camera = { eye = {0.16, 0.13, 0.2}, target = {0, 0.03, 0}, fov_deg = 32 },
}
