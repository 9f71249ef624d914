-- Two boxes of sand fall side by side; their piles meet in the middle.
local paper = size == "paper"
local p = params { cells = paper and 96 or 40, angle = 30.0, duration = 1.2 } -- cells per metre
local h, side = 1 / p.cells, paper and 0.214 or 0.22
local function sand(colour) return granular { density = 1600, friction_angle_deg = p.angle, colour = colour } end
local function cube(x) return box { size = side, center = {x, side / 2, 0.3} } end

return scene {
  talus = 1, engine = "grid",
  title = "Two boxes of sand",
  about = "two boxes of sand collapse and their piles meet",
  figure = "FM21 Fig. 5",
  minutes = paper and 15 or 1,
  duration = p.duration, fps = 50, dt_max = paper and 0.02 or 0.01,
  grid = { cells = {p.cells, 12 * p.cells // 40, 24 * p.cells // 40}, cell = h },
  fill = { { material = sand "#d9b36c", shape = cube(0.3) }, { material = sand "#a8653a", shape = cube(0.7) } },
  camera = { eye = {0.5, 0.7, 1.5}, target = {0.5, 0.05, 0.3}, fov_deg = 32 },
}
