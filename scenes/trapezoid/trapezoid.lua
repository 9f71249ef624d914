-- A trapezoid of water levels out. Whole cells cannot say where the surface is: with solver.surface = "binary" it ripples.
--   talus run trapezoid --sweep solver.surface=fractional,binary
local p = params { cells = size == "paper" and 96 or 48, duration = 2 } -- along x, 2 m
local h = 2 / p.cells
local water = liquid { density = 1000, name = "water" }

return scene {
  talus = 1, engine = "grid",
  title = "Trapezoid of water",
  about = "an inclined surface levels out; compare solver.surface fractional and binary",
  figure = "FrictionalMonolith fig. 2",
  minutes = size == "paper" and 10 or 1,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells // 2, p.cells // 4}, cell = h, cfl = 1 },
  fill = { { material = water, shape = box { size = {2, 1, 0.5}, center = {1, 0.5, 0.25} }
    * half_space { normal = {-0.15, 1, 0}, point = {1, 0.4, 0.25} } } },
  render = { walls = "frame", colour_by = "speed", range = {0, 0.6} },
}
