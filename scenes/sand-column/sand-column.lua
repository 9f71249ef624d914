-- A round column of sand collapses; every variant of the stress solve is a setting of this scene.
local paper = size == "paper"
local p = params { cells = paper and 80 or 40, angle = 30.0, aspect = 1.0, radius = paper and 0.127 or 0.16, slab = false, duration = 1.0 } -- cells per metre of a box 1 m wide
local h = 1 / p.cells
local high = p.aspect * p.radius
local up = math.ceil((high + 2 * h) / h / 2) * 2
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }
local heap = p.slab and box { size = {2 * p.radius, high, h}, center = {0.5, high / 2, h / 2} }
             or cylinder { radius = p.radius, height = high, center = {0.5, high / 2, 0.5} }

return scene {
  talus = 1, engine = "grid",
  title = "Sand column",
  about = "a column of sand collapses into a pile; friction angle and every variant of the stress solve are settings",
  figure = "FM21 Figs. 3, 6, 9, 10",
  minutes = paper and 10 or 1,
  duration = p.duration, fps = 50, dt_max = paper and 0.02 or 0.01,
  grid = { cells = {p.cells, up, p.slab and 1 or p.cells}, cell = h, periodic = {false, false, p.slab} },
  fill = { { material = sand, shape = heap } },
  camera = { eye = {0.5, 0.75, 1.75}, target = {0.5, 0.02, 0.5}, fov_deg = 30 },
}
