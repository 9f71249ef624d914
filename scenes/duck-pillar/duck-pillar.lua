-- A duck floats on a narrow pillar of water: the deeper it is, the more iterations a plain Jacobi solver needs.
local p = params { h = size == "paper" and 0.005 or 0.0125, depth = 0.6, width = 0.3 }
local half = 0.5 * p.width
return scene {
  talus = 1, engine = "sph",
  title = "Pillar of water with a duck",
  about = "a duck on a pillar of water: pressure travels through the whole depth in every step",
  figure = "Probst and Teschner 2023, figure 7",
  minutes = size == "paper" and 60 or 4,
  duration = 1, fps = 50, dt_max = 2e-3,
  sph = { spacing = p.h },
  domain = { min = {-half, 0, -half}, max = {half, p.depth + 0.3, half} },
  bodies = { { name = "duck", shape = shape_file "duck", density = 400, at = {0, p.depth - 0.04, 0}, colour = "#e8b923" } },
  fill = { { material = liquid { density = 1000, colour = "#4a90c2", opacity = 1 }, sampling = "lattice",
             shape = box { size = {p.width - 0.5 * p.h, p.depth, p.width - 0.5 * p.h}, center = {0, 0.5 * p.depth, 0} } } },
  camera = { eye = {1.0, 0.9, 1.8}, target = {0, 0.4, 0}, fov_deg = 30 },
  render = { walls = "frame" },
}
