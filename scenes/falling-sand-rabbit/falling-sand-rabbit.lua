-- A rabbit made of sand falls to the ground.
local paper = size == "paper"
local p = params { cells = paper and 80 or 40, angle = 35.0, drop = 0.12, duration = 1.0 } -- cells per metre
local h = 1 / p.cells
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }

return scene {
  talus = 1, engine = "grid",
  title = "Falling sand rabbit",
  about = "a rabbit made of sand falls and becomes a pile",
  figure = "FM21 Figs. 11, 12",
  minutes = paper and 15 or 1,
  duration = p.duration, fps = 50, dt_max = paper and 0.02 or 0.01,
  grid = { cells = {p.cells, paper and p.cells or p.cells * 8 // 10, p.cells}, cell = h },
  fill = { { material = sand, shape = shape_file "rabbit":scale(paper and 2.7 or 1.6):move({0.5, p.drop, 0.5}) } },
  camera = { eye = {0.9, 0.65, 1.5}, target = {0.5, 0.03, 0.5}, fov_deg = 30 },
}
