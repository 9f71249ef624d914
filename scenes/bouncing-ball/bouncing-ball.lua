-- An elastic ball is thrown between walls. Steps of 2 ms: a bounce takes about ten of them.
local paper = size == "paper"
local p = params { young = 2e5, edge = paper and 0.02 or 0.04, speed = 3 }
local function wall(name, normal, point) return { name = name, kind = "static", shape = half_space { normal = normal, point = point }, friction = 0.3, opacity = 0.1 } end
return scene {
  talus = 1, engine = "grid",
  title = "Bouncing ball",
  about = "an elastic ball bounces between walls",
  minutes = paper and 6 or 1,
  duration = 1.5, fps = 50, dt_max = 0.002,
  fem = { integrator = "midpoint" },
  bodies = {
    { name = "ball", shape = sphere { radius = 0.1 }:paint({ "#3f7f5f", gloss = 0.5 }):paint(box { size = {1, 0.03, 1} }, "#f0e8d8"), at = {0, 0.4, 0}, edge = p.edge,
      velocity = {p.speed, 0.5, 0}, spin_rad_per_s = {0, 0, -5}, material = elastic { density = 500, young = p.young, poisson = 0.35, friction = 0.3 } },
    { name = "ground", kind = "static", shape = plane {}, friction = 0.3 },
    wall("left", {1, 0, 0}, {-0.5, 0, 0}), wall("right", {-1, 0, 0}, {0.5, 0, 0}),
  },
  camera = { eye = {0.2, 0.6, 2}, target = {0, 0.35, 0}, fov_deg = 38 },
}
