-- A soft cube of 1 m on a slope of 10 degrees. It slides when friction is below tan(10 deg) = 0.176327 and rests above.
-- The slope is level and gravity leans.
local p = params { cells = size == "paper" and 8 or 5, friction = 0.175327, slope = 10.0, young = 1e8, model = "arap" }
local a = math.rad(p.slope)
return scene {
  talus = 1, engine = "lg",
  title = "Stick and slide",
  about = "a soft cube at the limit of friction slides or rests",
  figure = "Zeng2025 sec. 7.5",
  minutes = 0.3,
  duration = 2, fps = 50, dt_max = 0.01, gravity = {9.81 * math.sin(a), -9.81 * math.cos(a), 0},
  lg = { iterations = 10, inner = 5, precision = "double" },
  bodies = {
    { name = "cube", shape = box { size = 1, center = {0, 0.5, 0} }, cells = {p.cells, p.cells, p.cells}, friction = p.friction, colour = "#c0653a",
      material = elastic { density = 1000, young = p.young, poisson = 0.3, model = p.model } },
    { name = "slope", kind = "static", shape = plane {}, friction = p.friction },
  },
  camera = { eye = {2.2, 1.6, 3.2}, target = {0, 0.45, 0}, fov_deg = 34 },
}
