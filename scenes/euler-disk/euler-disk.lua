-- A disk that wobbles on its rim, its centre at rest: the place of contact runs around at sqrt(g d / k) of its moments. With --set rolling=1e-4 it loses energy, falls, and
-- its place of contact runs ever faster.
local p = params { radius = 0.05, height = 0.005, tilt = 20.0, rolling = 0.0 }
local a, R, h = math.rad(p.tilt), p.radius, 0.5 * p.height
local k1, k3 = 0.25 * R ^ 2 + p.height ^ 2 / 12, 0.5 * R ^ 2
local x, y = -R * math.cos(a) + h * math.sin(a), R * math.sin(a) + h * math.cos(a) -- from the contact to the centre
local rate = math.sqrt(9.81 * x / (-k1 * math.sin(a) * math.cos(a) + k3 * math.sin(a) ^ 2 / R * h))
local spin = rate * math.sin(a) / R

return scene {
  talus = 1, engine = "grid",
  title = "Euler's disk",
  about = "a disk that rolls around on its rim and keeps its energy",
  minutes = 0.1,
  duration = 2, fps = 50, dt_max = 0.001,
  bodies = {
    { name = "ground", kind = "static", shape = plane {}, friction = 1 },
    { name = "disk", shape = cylinder { radius = R, height = p.height }:paint("#2d6cb5"):paint(half_space { normal = {1, 0, 0} }, "#f0e6d2"), density = 8000, friction = 1, rolling_friction = p.rolling,
      at = {0, y, 0}, rotation = { axis = {0, 0, 1}, angle_deg = -p.tilt }, spin_rad_per_s = { spin * x, spin * y, 0 } },
  },
  camera = { eye = {0.15, 0.15, 0.25}, target = {0, 0.01, 0}, fov_deg = 35 },
}
