-- Two rods on hinges, let go. Nothing but gravity: the energy stays what it was.
local p = params { angle = 90, links = 2 }
local bodies, joints, at = {}, {}, {0, 2.2, 0}
local colours = { "#c0392b", "#2d6cb5", "#e0b040", "#3f8f5f" }
local a = math.rad(p.angle)
for k = 1, p.links do
  local d = {math.sin(a), -math.cos(a)}
  bodies[k] = { name = "rod " .. k, shape = box { size = {0.06, 1, 0.06}, round = 0.01 }, mass = 1,
    at = {at[1] + 0.5 * d[1], at[2] + 0.5 * d[2], 0}, rotation_deg = {0, 0, p.angle}, colour = colours[(k - 1) % 4 + 1] }
  joints[k] = { name = "hinge " .. k, kind = "hinge", a = "rod " .. k, b = k > 1 and "rod " .. (k - 1) or nil, at = at,
    axis = {0, 0, 1} }
  at = {at[1] + d[1], at[2] + d[2], 0}
end

return scene {
  talus = 1, engine = "grid",
  title = "Double pendulum",
  about = "two rods on hinges swing for 10 s and keep their energy",
  minutes = 0.1,
  duration = 10, fps = 50, dt_max = 0.01,
  bodies = bodies, joints = joints,
  accept = { momentum = 1e-9, energy = 1e-9 },
  camera = { eye = {0, 2.2, 9}, target = {0, 2.0, 0}, fov_deg = 30 },
}
