-- Water breaks onto a heap of sand and washes it away. Nothing flows through pores: a cell is as frictional as what fills it.
local paper = size == "paper"
local p = params { cells = paper and 80 or 40, angle = 35.0, duration = 0.8 } -- cells per metre
local h, deep = 1 / p.cells, 0.4
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }
local water = liquid { name = "water", density = 1000, colour = "#2f86c9", opacity = 0.75 }

return scene {
  talus = 1, engine = "grid",
  title = "Sand and water",
  about = "water breaks onto a heap of sand; both are one flow, without flow through pores",
  minutes = paper and 15 or 1.5,
  duration = p.duration, fps = 50, dt_max = 0.01,
  grid = { cells = {p.cells, 20 * p.cells // 40, 16 * p.cells // 40}, cell = h, mixture = "mud" },
  fill = {
    { material = water, shape = box { size = {0.24, 0.26, deep}, center = {0.12, 0.13, deep / 2} } },
    { material = sand, shape = cone { radius = 0.18, height = 0.12, center = {0.6, 0.06, deep / 2} } },
  },
  solver = { tolerance = 1e-3 },
  render = { walls = "glass" },
  camera = { eye = {0.75, 0.7, 1.6}, target = {0.5, 0.1, 0.2}, fov_deg = 32 },
}
