-- A block is dropped on a pile of sand.
local paper = size == "paper"
local p = params { cells = paper and 64 or 32, angle = 35.0, density = 800.0, duration = 1.0 } -- cells per metre
local h = 1 / p.cells
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }
local pile = paper and sphere { radius = 0.34, center = {0.5, 0, 0.5} } * half_space { normal = {0, -1, 0} } -- as many grains as the paper's, released as there
             or cone { radius = 0.33, height = 0.17, center = {0.5, 0.085, 0.5} } -- a slope of 27 degrees
local up = paper and 0.2 or 0

return scene {
  talus = 1, engine = "grid",
  title = "Block on a pile",
  about = "a block falls on a pile of sand and comes to rest there",
  figure = "FM21 Tab. 5",
  minutes = paper and 20 or 1,
  duration = p.duration, fps = 50, dt_max = paper and 0.02 or 0.01,
  grid = { cells = {p.cells, p.cells * 3 // 4, p.cells}, cell = h },
  fill = { { material = sand, shape = pile } },
  bodies = {
    { name = "block", shape = box { size = {0.2, 0.12, 0.16}, round = 0.01 }, at = {0.52, 0.3 + up, 0.5}, rotation_deg = {0, 25, 8}, density = p.density, colour = "#a8653a" },
  },
  camera = { eye = {0.95, 0.75, 1.6}, target = {0.5, 0.1, 0.5}, fov_deg = 32 },
}
