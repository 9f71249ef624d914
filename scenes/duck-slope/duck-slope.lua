-- A duck on a slope of 30 degrees while friction falls from 0.8 to 0.5 within 0.3 s: it holds until tan 30 = 0.577, then its speed grows with the
-- square of what friction lost. Its belly is cut flat 2 cm up: the whole duck stands on 8 cm and would tip over before it slides.
local p = params { h = size == "paper" and 0.005 or 0.01, slope = 30.0, settle = 0.3 }
local function friction(t) return 0.8 - math.min(0.3, math.max(0, t - p.settle)) end
local a = math.rad(p.slope)
local function on_slope(along, up) return { along * math.cos(a) + up * math.sin(a), up * math.cos(a) - along * math.sin(a), 0 } end
local duck = (shape_file "duck" - plane { height = 0.02 }):move {0, -0.02, 0}

return scene {
  talus = 1, engine = "sph",
  title = "Duck on a slope, friction falling",
  about = "a duck sticks to a slope until friction falls to the tangent of its angle",
  figure = "Probst and Teschner 2023, figures 3 and 4",
  minutes = size == "paper" and 1 or 0.1,
  duration = p.settle + 0.3, fps = 100, dt_max = 1e-3,
  sph = { spacing = p.h },
  bodies = {
    { name = "slope", kind = "static", shape = box { size = {1.0, 0.05, 0.4} }, at = on_slope(0.1, -0.025), rotation_deg = {0, 0, -p.slope}, friction = friction, colour = "#b9b4a7" },
    { name = "duck", shape = duck, density = 500, at = on_slope(-0.2, 0.1 * p.h), rotation_deg = {0, 0, -p.slope}, friction = friction },
  },
  camera = { eye = {0.2, 0.5, 1.4}, target = {0, 0, 0}, fov_deg = 32 },
  render = { ground_height = -0.36 },
}
