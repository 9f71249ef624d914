-- A block of sand is let go above an elastic sheet that is held at its rim: it slumps and the sheet sags.
local fine = size == "paper"
local p = params { cells = fine and 48 or 20, young = 4e5, duration = 1.2 }
local h = 0.5 / p.cells
local sand = granular { density = 1600, friction_angle_deg = 30, name = "sand", colour = "#d9b36c" }
local rubber = elastic { density = 1000, young = p.young, poisson = 0.4, damping = 0.01, name = "rubber",
                         colour = "#b0584f" }
local wide, thick = 0.44, 0.025

return scene {
  talus = 1, engine = "grid",
  title = "Sand on an elastic sheet",
  about = "a heap of sand on a sheet a tenth of its weight: frictional stress and finite elements in one solve",
  minutes = fine and 30 or 2,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells, p.cells}, cell = h, cfl = 2 },
  fill = { { material = sand, shape = box { size = {0.24, 0.14, 0.24}, center = {0.25, 0.35, 0.25} } } },
  bodies = {
    { name = "sheet", shape = box { size = {wide, thick, wide} }, at = {0.25, 0.26, 0.25}, material = rubber,
      cells = fine and {24, 2, 24} or {12, 1, 12},
      anchor = subtract { box { size = 1 }, box { size = {wide - 0.01, 1, wide - 0.01} } } },
  },
  render = { walls = "frame" },
  camera = { eye = {0.95, 0.65, 1.1}, target = {0.25, 0.24, 0.25}, fov_deg = 32 },
}
