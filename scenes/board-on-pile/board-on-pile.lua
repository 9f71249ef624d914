-- A board falls on a pile of sand, and a rabbit on the board.
local paper = size == "paper"
local p = params { cells = paper and 64 or 32, angle = 35.0, density = 800.0, duration = 1.0 } -- cells per metre
local h = 1 / p.cells
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#d9b36c" }
local grow = paper and 1.304 or 1                                       -- 90 000 grains at the size of the paper
local pile = cone { radius = 0.33 * grow, height = 0.17 * grow, center = {0.5, 0.085 * grow, 0.5} } -- a slope of 27 degrees
local up = 0.17 * (grow - 1)

return scene {
  talus = 1, engine = "grid",
  title = "Board and rabbit on a pile",
  about = "a board and a rabbit come to rest on a pile of sand; the order of the block solves decides whether they sink",
  figure = "FM21 Figs. 17, 18",
  minutes = paper and 20 or 1,
  duration = p.duration, fps = 50, dt_max = paper and 0.02 or 0.01,
  grid = { cells = {p.cells, p.cells * 3 // 4, p.cells}, cell = h },
  fill = { { material = sand, shape = pile } },
  bodies = {
    { name = "board", shape = box { size = {0.42, 2.2 / 32, 0.26}, round = 0.01 }, at = {0.5, 0.25 + up, 0.5}, rotation_deg = {0, 20, 0}, density = 500, colour = "#b98b5a" },
    { name = "rabbit", shape = shape_file "rabbit":scale(0.8), at = {0.53, 0.31 + up, 0.48}, rotation_deg = {0, -35, 0}, density = p.density, colour = "#efe8dc" },
  },
  camera = { eye = {0.95, 0.75, 1.6}, target = {0.5, 0.1, 0.5}, fov_deg = 32 },
}
