-- A pillar of water that grows: plain Jacobi iterations grow with its depth, those of conjugate gradients by less. It starts with `filled` layers, on
-- which the rest falls little by little.
local p = params { h = size == "paper" and 0.01 or 0.02, columns = 8, layers = 45, filled = 8, seconds = 4.0 }
local half = 0.5 * (p.columns - 1 + 1.46) * p.h
local top = (p.layers + 10) * p.h
local inlet = (p.columns - 2) * p.h -- what is nearer to a wall waits
-- inlets above each other, one after the other: drops that fall far would pass the floor
local emitters, step = {}, 4
for low = p.filled, p.layers - 1, step do
  local t0, share = (low - p.filled) / (p.layers - p.filled), step / (p.layers - p.filled)
  emitters[#emitters + 1] = { material = liquid { density = 1000 }, shape = box { size = {inlet, 2 * p.h, inlet}, center = {0, (low + step + 3) * p.h, 0} }, velocity = {0, -0.5, 0},
    start = t0 * p.seconds, stop = math.min(1, t0 + share) * p.seconds, rate = p.columns ^ 2 * (p.layers - p.filled) * p.h ^ 3 / p.seconds }
end
return scene {
  talus = 1, engine = "sph",
  title = "Growing pillar of water",
  about = "water falls into a narrow tank: how the work of a solver grows with depth",
  figure = "Probst and Teschner 2023, figure 8",
  minutes = size == "paper" and 20 or 2,
  duration = p.seconds, fps = 25, dt_max = 2e-3,
  sph = { spacing = p.h, inset = 0 },
  domain = { min = {-half, 0, -half}, max = {half, top, half}, y_max = "open" },
  fill = { { material = liquid { density = 1000 }, sampling = "lattice", shape = box { size = {p.columns * p.h, p.filled * p.h, p.columns * p.h}, center = {0, (0.5 * p.filled + 0.25) * p.h, 0} } } },
  emitters = emitters,
  camera = { eye = {0.8, 0.9, 2.2}, target = {0, 0.45, 0}, fov_deg = 30 },
  render = { walls = "frame", colour_by = "pressure" },
}
