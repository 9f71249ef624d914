-- A rabbit of honey sinks into a puddle, slowly.
local paper = size == "paper"
local p = params { cells = paper and 64 or 32, viscosity = 400, duration = 2.0 } -- cells per metre
local h = 1 / p.cells
local m = viscous { name = "honey", density = 1000, viscosity = p.viscosity, colour = "#d98a1c" }

return scene {
  talus = 1, engine = "grid",
  title = "Viscous rabbit",
  about = "a rabbit of honey becomes a puddle, ears first",
  minutes = paper and 60 or 6,
  duration = p.duration, fps = 25,
  grid = { cells = {p.cells, p.cells * 3 // 4, p.cells}, cell = h },
  fill = { { material = m, shape = shape_file "rabbit":scale(paper and 2.4 or 1.9):move({0.5, 0.01, 0.5}) } },
  camera = { eye = {1.05, 0.75, 1.6}, target = {0.5, 0.16, 0.5}, fov_deg = 30 },
}
