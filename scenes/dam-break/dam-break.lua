-- A column of water, 0.4 x 0.6 x 1 m, collapses in a closed unit cube.
local p = params { cells = size == "paper" and 64 or 32, duration = 3 }
local water = liquid { density = 1000, name = "water" }

return scene {
  talus = 1, engine = "grid",
  title = "Dam break",
  about = "a column of water collapses in a closed box",
  minutes = size == "paper" and 3 or 0.4,
  duration = p.duration, fps = 24,
  grid = { cells = {p.cells, p.cells, p.cells}, cell = 1 / p.cells, cfl = 2 },
  fill = { { material = water, shape = box { size = {0.4, 0.6, 1}, center = {0.2, 0.3, 0.5} } } },
  render = { walls = "frame", colour_by = "speed", range = {0, 3} },
}
