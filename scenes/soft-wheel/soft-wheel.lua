-- A tyre that a load presses into a bed of sand: a soft one sinks less.
local fine = size == "paper"
local p = params { cells = fine and 48 or 24, young = 2e5, load = 300, duration = 1 } -- cells along the bed; Pa; N
local h = 0.6 / p.cells
local sand = granular { density = 1600, friction_angle_deg = 30, name = "sand", colour = "#d9b36c" }
local rubber = elastic { density = 1100, young = p.young, poisson = 0.45, damping = 0.02, name = "rubber", colour = "#3b3b3f" }
local bed, r, hole, wide = 0.15, 0.12, 0.05, 0.1

return scene {
  talus = 1, engine = "grid",
  title = "A soft wheel on sand",
  about = "a loaded tyre presses into a bed of sand: the softer it is, the less it sinks",
  minutes = fine and 30 or 2,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells * 3 // 4, p.cells // 2}, cell = h, cfl = 2 },
  fill = { { material = sand, shape = box { size = {0.6, bed, 0.3}, center = {0.3, bed / 2, 0.15} } } },
  bodies = {
    { name = "tyre", at = {0.3, bed + r + 0.005, 0.15}, rotation_deg = {90, 0, 0}, material = rubber, friction = 0.6,
      shape = cylinder { radius = r, height = wide }, edge = fine and 0.02 or 0.035, force = {0, -p.load, 0} },
  },
  render = { walls = "frame" },
  camera = { eye = {0.95, 0.55, 1.1}, target = {0.3, 0.15, 0.15}, fov_deg = 32 },
}
