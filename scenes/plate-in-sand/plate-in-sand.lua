-- A square plate is pressed into a bed of sand at constant speed; bodies.csv has the force of the sand on it.
local paper = size == "paper"
local p = params { cells = paper and 80 or 40, angle = 30.0, edge = 0.15, speed = 0.1, duration = 0.9 } -- cells per metre
local h, wide, bed, thick = 1 / p.cells, 0.6, 0.2, 0.12
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }
local wait = 0.1 -- s: the bed settles first
local start = bed + thick / 2 + 0.005

return scene {
  talus = 1, engine = "grid",
  title = "Plate pressed into sand",
  about = "force against depth of a square plate that is pressed into sand",
  minutes = paper and 20 or 1,
  duration = p.duration, fps = 50, dt_max = 0.01,
  grid = { cells = {24 * p.cells // 40, 16 * p.cells // 40, 24 * p.cells // 40}, cell = h },
  fill = { { material = sand, shape = box { size = {wide, bed, wide}, center = {wide / 2, bed / 2, wide / 2} } } },
  bodies = {
    { name = "plate", shape = box { size = {p.edge, thick, p.edge} }, at = {wide / 2, start, wide / 2}, colour = "#5f7f95",
      motion = function(t) return { at = {wide / 2, start - p.speed * math.max(0, t - wait), wide / 2} } end },
  },
  camera = { eye = {0.8, 0.7, 1.4}, target = {0.3, 0.1, 0.3}, fov_deg = 34 },
}
