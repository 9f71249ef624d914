-- A sheet of a very viscous liquid comes down on a table and folds.
local paper = size == "paper"
local p = params { cells = paper and 240 or 120, viscosity = 60, speed = 0.25, duration = 1.6 } -- cells per metre
local h = 1 / p.cells
local m = viscous { name = "syrup", density = 1300, viscosity = p.viscosity, colour = "#b5651d" }
local thick, wide = 0.025, 0.15

return scene {
  talus = 1, engine = "grid",
  title = "A viscous sheet folds",
  about = "a falling sheet of syrup buckles and folds on a table",
  minutes = paper and 120 or 8,
  duration = p.duration, fps = 25,
  grid = { cells = {36 * p.cells // 120, 32 * p.cells // 120, 24 * p.cells // 120}, cell = h, origin = {-0.15, 0, -0.1} },
  emitters = { { material = m, shape = box { size = {thick, 0.02, wide}, center = {0, 0.24, 0} },
    velocity = {0, -p.speed, 0}, rate = thick * wide * p.speed } },
  camera = { eye = {0.45, 0.3, 0.55}, target = {0, 0.09, 0}, fov_deg = 32 },
}
