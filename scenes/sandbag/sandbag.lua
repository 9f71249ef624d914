-- A rubber ball full of sand is set down on a floor, slumps and rests.
local fine = size == "paper"
local p = params { cells = fine and 48 or 20, young = 4e5, wall = 0.06, edge = fine and 0.03 or 0.05, duration = 1.2 }
local h = 0.8 / p.cells
local sand = granular { density = 1600, friction_angle_deg = 30, name = "sand", colour = "#d9b36c" }
local rubber = elastic { density = 1100, young = p.young, poisson = 0.4, damping = 0.02, name = "rubber",
                         colour = "#8a5a44" }
local r = 0.24

return scene {
  talus = 1, engine = "grid",
  title = "A bag of sand",
  about = "sand fills an elastic bag: frictional stress and finite elements in one solve",
  minutes = fine and 60 or 2,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, 7 * p.cells // 10, p.cells}, cell = h, cfl = 2 },
  fill = { { material = sand, shape = sphere { radius = r - p.wall, center = {0.4, r + 0.01, 0.4} } } },
  bodies = {
    { name = "bag", at = {0.4, r + 0.01, 0.4}, material = rubber, friction = 0.6, edge = p.edge,
      shape = subtract { sphere { radius = r }, sphere { radius = r - p.wall } } },
  },
  render = { walls = "frame" },
  camera = { eye = {1.2, 0.6, 1.4}, target = {0.4, 0.15, 0.4} },
}
