-- A car drives through a puddle in a dip of the road: wheels on hinges and springs, joints and water in one solve.
local p = params { speed = 2.0, rise = 0.8, depth = 0.1, friction = 0.8, stiffness = 20000, damping = 1200, spacing = size == "paper" and 0.025 or 0.04 }
local base, track, radius, mass, h = 1.2, 0.8, 0.2, 100, p.spacing
local from, to, wide, slope = 1.1, 3.1, 0.75, 0.5   -- the dip, half the road's width, how long its ends fall
local angle = math.deg(math.atan(p.depth / slope))
local function road(name, x0, x1, y)
  return { name = name, kind = "static", shape = box { size = {x1 - x0, 0.2, 2 * wide + 0.4} }, at = {(x0 + x1) / 2, y - 0.1, 0}, friction = p.friction, colour = "#bdb6a8" }
end
local function ramp(name, x, sign)                  -- its upper edge at (x, 0), falling towards sign
  local long = math.sqrt(slope ^ 2 + p.depth ^ 2)
  local a = math.rad(angle)
  return { name = name, kind = "static", shape = box { size = {long, 0.1, 2 * wide + 0.4} }, friction = p.friction, colour = "#a8a193",
    at = {x + sign * (slope / 2 - 0.05 * math.sin(a)), -p.depth / 2 - 0.05 * math.cos(a), 0}, rotation_deg = {0, 0, -sign * angle} }
end
local bodies = {
  road("road before", -1.4, from, 0), road("road after", to, 5.4, 0), road("dip", from, to, -p.depth), ramp("way down", from, 1), ramp("way up", to, -1),
  { name = "kerb left", kind = "static", shape = box { size = {6.8, 0.35, 0.1} }, at = {2, 0.0, -wide - 0.05}, colour = "#95a5a6" },
  { name = "kerb right", kind = "static", shape = box { size = {6.8, 0.35, 0.1} }, at = {2, 0.0, wide + 0.05}, colour = "#95a5a6" },
  { name = "chassis", shape = box { size = {1.7, 0.2, 0.5} }, at = {0, radius + 0.15 + 0.4 * h, 0}, mass = mass, colour = "#c0392b", friction = 0.3 },
}
local joints = {}
for _, w in ipairs { {"front left", 1, -1}, {"front right", 1, 1}, {"rear left", -1, -1}, {"rear right", -1, 1} } do
  local name, x, y, z = w[1], w[2] * base / 2, radius + 0.4 * h, w[3] * track / 2
  bodies[#bodies + 1] = { name = "upright " .. name, shape = box { size = 0.08 }, at = {x, y, z - w[3] * 0.1}, mass = 4, colour = "#34495e" }
  bodies[#bodies + 1] = { name = name, shape = sphere { radius = radius } * cylinder { radius = radius, height = 0.12, rotation_deg = {90, 0, 0} }, at = {x, y, z},
                          mass = 6, colour = "#2c3e50", friction = p.friction }
  joints[#joints + 1] = { name = "strut " .. name, kind = "slider", a = "upright " .. name, b = "chassis", at = {x, y, z}, axis = {0, 1, 0}, limits = {-0.1, 0.1},
                          motor = { position = -0.25 * mass * 9.81 / p.stiffness, stiffness = p.stiffness, damping = p.damping } }
  joints[#joints + 1] = { name = "axle " .. name, kind = "hinge", a = name, b = "upright " .. name, at = {x, y, z}, axis = {0, 0, 1},
                          motor = { speed = function(t) return -p.speed / radius * math.min(1, t / p.rise) end, max = 200 } }
end
return scene {
  talus = 1, engine = "sph",
  title = "A car drives through a puddle",
  about = "four driven wheels on springs carry a car through water in a dip of the road",
  minutes = 1.5,
  duration = size == "paper" and 4 or 2.6, fps = 30, dt_max = 0.002,
  sph = { spacing = h },
  fill = { { material = liquid { density = 1000 },
             shape = box { size = {to - from - 0.3, p.depth - 0.2 * h, 2 * wide}, center = {(from + to) / 2, -p.depth / 2 - 0.1 * h, 0} } } },
  bodies = bodies, joints = joints,
  camera = { eye = {2.6, 2.4, 6.0}, target = {2.0, 0.1, 0}, fov_deg = 46 },
}
