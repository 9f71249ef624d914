-- A pillar of water that grows: plain Jacobi iterations grow with its depth, conjugate gradients with less.
local p = params { h = size == "paper" and 0.01 or 0.02, columns = 8, layers = 45, seconds = 4.0 }
local half = 0.5 * (p.columns - 1 + 1.46) * p.h
local top = (p.layers + 8) * p.h
local inner = p.columns * p.h
return scene {
  talus = 1, engine = "sph",
  title = "Growing pillar of water",
  about = "water falls into a narrow tank: how the work of a solver grows with depth",
  figure = "Probst and Teschner 2023, figure 8",
  minutes = size == "paper" and 20 or 2,
  duration = p.seconds, fps = 25, dt_max = 2e-3,
  sph = { spacing = p.h, inset = 0 },
  domain = { min = {-half, 0, -half}, max = {half, top, half}, y_max = "open" },
  emitters = { { material = liquid { density = 1000 }, shape = box { size = {inner, 2 * p.h, inner}, center = {0, top - 3 * p.h, 0} }, velocity = {0, -0.5, 0},
                 rate = inner * inner * p.layers * p.h / p.seconds } },
  camera = { eye = {0.8, 0.9, 2.2}, target = {0, 0.45, 0}, fov_deg = 30 },
  render = { walls = "frame", colour_by = "pressure" },
}
