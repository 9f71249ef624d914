-- A car: four wheels on springs, the front ones steered, all of them driven. It runs up a ramp, or in a circle.
-- `tilt` is the tangent of a slope of the whole world, for measuring what friction allows.
local p = params { speed = 2.0, rise = 1.0, steer_deg = 0, slope_deg = 15, tilt = 0, friction = 0.8, stiffness = 20000, damping = 800 }
local down = {9.81 * p.tilt / math.sqrt(1 + p.tilt ^ 2), 9.81 / math.sqrt(1 + p.tilt ^ 2)}
local base, track, radius, mass = 1.2, 0.8, 0.2, 100
local rest = radius + 0.15                     -- height of the chassis' middle over the ground
local steer = math.rad(p.steer_deg)
local bodies = {
  { name = "floor", kind = "static", shape = plane {}, colour = "#bdb6a8", friction = p.friction },
  { name = "chassis", shape = box { size = {1.7, 0.2, 0.5}, round = 0.02 } + box { size = {0.8, 0.25, 0.46}, center = {-0.1, 0.2, 0}, round = 0.05 },
    at = {0, rest, 0}, mass = mass, colour = "#c0392b", friction = 0.3 },
}
if p.slope_deg > 0 then
  local a = math.rad(p.slope_deg)
  bodies[#bodies + 1] = { name = "ramp", kind = "static", shape = half_space { normal = {-math.sin(a), math.cos(a), 0}, point = {2.0, 0, 0} }
    * box { size = {5, 4, 3}, center = {4.0, 1.0, 0} }, colour = "#95a5a6", friction = p.friction }
end
local joints = {}
-- how far a wheel is from the middle of the turn, over that of the middle of the rear axle, and its steering angle
local function turn_of(x, z)
  if steer == 0 then return 1, 0 end
  local middle = base / math.tan(steer)        -- to the left: z < 0
  local wheel = middle + z
  local far = math.sqrt(wheel * wheel + (x > 0 and base * base or 0))
  return (wheel > 0 and far or -far) / middle, x > 0 and math.atan(base / wheel) or 0
end
for _, w in ipairs { {"front left", 1, -1}, {"front right", 1, 1}, {"rear left", -1, -1}, {"rear right", -1, 1} } do
  local name, x, z = w[1], w[2] * base / 2, w[3] * track / 2
  local ratio, angle = turn_of(x, z)
  local axle = {math.sin(angle), 0, math.cos(angle)}
  bodies[#bodies + 1] = { name = "upright " .. name, shape = box { size = 0.08 }, at = {x, radius, z - w[3] * 0.1}, mass = 4, colour = "#34495e" }
  bodies[#bodies + 1] = { name = name, shape = sphere { radius = radius } * cylinder { radius = radius, height = 0.12, rotation_deg = {90, 0, 0} }, at = {x, radius, z},
                          rotation = { axis = {0, 1, 0}, angle_rad = angle }, mass = 6, colour = "#2c3e50", friction = p.friction }
  joints[#joints + 1] = { name = "strut " .. name, kind = "slider", a = "upright " .. name, b = "chassis", at = {x, radius, z}, axis = {0, 1, 0}, limits = {-0.1, 0.1},
                          motor = { position = -0.25 * mass * down[2] / p.stiffness, stiffness = p.stiffness, damping = p.damping } }
  joints[#joints + 1] = { name = "axle " .. name, kind = "hinge", a = name, b = "upright " .. name, at = {x, radius, z}, axis = axle,
                          motor = { speed = function(t) return -p.speed / radius * ratio * math.min(1, t / p.rise) end } }
end
return scene {
  talus = 1, engine = "grid",
  title = "A car with suspension and steering",
  about = "four driven wheels on springs carry a car up a ramp",
  minutes = 0.5,
  duration = size == "paper" and 8 or 3, fps = 50, dt_max = 0.005, gravity = {-down[1], -down[2], 0},
  bodies = bodies, joints = joints,
  camera = { eye = {3.0, 2.6, 7.5}, target = {2.6, 0.6, 0}, fov_deg = 44 },
}
