-- A cone on its tip, in slow steady precession: I1 p^2 cos a - I3 s p + m g l = 0, with moments about the tip. With --set steady=0 it is let go without
-- precession, and nutates.
local p = params { spin = 200.0, tilt = 20.0, radius = 0.05, height = 0.1, steady = 1 }
local a, l = math.rad(p.tilt), 0.75 * p.height
local I3, I1 = 0.3 * p.radius ^ 2, 0.15 * p.radius ^ 2 + 0.6 * p.height ^ 2 -- over the mass
local root = math.max(0, (I3 * p.spin) ^ 2 - 4 * I1 * math.cos(a) * 9.81 * l)
local rate = p.steady > 0 and (I3 * p.spin - math.sqrt(root)) / (2 * I1 * math.cos(a)) or 0
local along = p.spin - rate * math.cos(a)
local x, y = -math.sin(a), math.cos(a) -- the axis
local w = { along * x, along * y + rate, 0 }

return scene {
  talus = 1, engine = "grid",
  title = "Top",
  about = "a top that keeps its tilt: second order in the step while it touches",
  minutes = 0.1,
  duration = 2, fps = 50, dt_max = 0.002,
  bodies = {
    { name = "ground", kind = "static", shape = plane {}, friction = 1 },
    { name = "top", shape = cone { radius = p.radius, height = p.height, rotation_deg = {180, 0, 0} }:paint("#2d6cb5"):paint(half_space { normal = {1, 0, 0} }, "#f0e6d2"), density = 1000, friction = 1,
      at = {0.5 * p.height * x, 0.5 * p.height * y, 0}, rotation = { axis = {0, 0, 1}, angle_deg = p.tilt },
      velocity = { 0, 0, w[1] * l * y - w[2] * l * x }, spin_rad_per_s = w },
  },
  camera = { eye = {0.25, 0.2, 0.35}, target = {0, 0.04, 0}, fov_deg = 35 },
}
