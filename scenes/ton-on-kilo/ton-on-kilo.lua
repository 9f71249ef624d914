-- A cube of a ton dropped on one of a kilogram: plain Jacobi steps need ten times as many iterations as conjugate gradients.
local p = params { h = 0.02, ratio = 1000.0, drop = 2.0 }
local edge = 10 * p.h
local cube = box { size = edge }
return scene {
  talus = 1, engine = "sph",
  title = "A ton on a kilogram",
  about = "two cubes with a mass ratio of 1000: the light one carries the heavy one",
  figure = "Probst and Teschner 2023, figure 6",
  minutes = 0.3,
  duration = 0.6, fps = 100, dt_max = 1e-3,
  sph = { spacing = p.h },
  bodies = {
    { name = "ground", kind = "static", shape = box { size = {40 * p.h, 4 * p.h, 40 * p.h} }, at = {0, -2 * p.h, 0} },
    { name = "light", shape = cube, mass = 1, at = {0, 0.5 * edge + 0.02 * p.h, 0}, colour = "#f0e6d2" },
    { name = "heavy", shape = cube, mass = p.ratio, at = {0, (1.5 * edge) + p.drop * p.h, 0}, colour = "#3b2a20" },
  },
  camera = { eye = {0.9, 0.6, 1.4}, target = {0, 0.2, 0}, fov_deg = 32 },
}
