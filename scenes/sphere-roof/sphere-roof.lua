-- Water at the roof of a ball-shaped container falls: pressure pushes, it does not pull. solver.pressure = "cg-multigrid" lets it pull.
local p = params { cells = size == "paper" and 128 or 48, duration = 1.5 }
local h = 1 / p.cells
local water = liquid { density = 1000, name = "water" }
local ball = sphere { radius = 0.42, center = {0.5, 0.5, 0.5} }

return scene {
  talus = 1, engine = "grid",
  title = "Water falls off the roof of a ball",
  about = "wall separation: water lets go of the roof of its container",
  figure = "FrictionalMonolith fig. 4, table 1",
  minutes = size == "paper" and 60 or 2,
  duration = p.duration, fps = 50,
  grid = { cells = {p.cells, p.cells, p.cells}, cell = h, cfl = 2 },
  fill = { { material = water, shape = ball * half_space { normal = {0, -1, 0}, point = {0.5, 0.55, 0.5} } } },
  bodies = { { name = "container", kind = "static", shape = box { size = 1.2, center = {0.5, 0.5, 0.5} } - ball, opacity = 0.05 } },
  render = { colour_by = "speed", range = {0, 3} },
  camera = { eye = {1.9, 0.9, 2.6}, target = {0.5, 0.45, 0.5} },
}
