-- An arm of four hinges with a gripper takes boxes from the floor and stacks them. Its angles are those that the wanted
-- path of the hand needs (inverse kinematics), held exactly; the fingers press with springs.
local p = params { boxes = 2, friction = 1.0, grip = 2000 }
local h0, L1, L2, reach = 0.4, 0.5, 0.5, 0.2     -- shoulder height, arms, wrist to the middle of the fingers
local side, level, stack_yaw, stack_r = 0.1, 0.05, math.rad(-40), 0.6

-- key frames: time, yaw, distance, height of the fingers' middle, closed
local keys, now = { {0, 0, 0.6, 0.45, 0} }, 0
local function go(seconds, yaw, r, y, closed)
  now = now + seconds
  keys[#keys + 1] = {now, yaw, r, y, closed}
end
local places = {}
for k = 1, p.boxes do
  local yaw, r, top = math.rad(25 * k), 0.6, level + side * (k - 1) + 0.001
  places[k] = {yaw, r}
  go(0.6, yaw, r, 0.35, 0)
  go(0.5, yaw, r, level, 0)
  go(0.2, yaw, r, level, 1)
  go(0.5, yaw, r, 0.4, 1)
  go(0.8, stack_yaw, stack_r, 0.4, 1)
  go(0.5, stack_yaw, stack_r, top, 1)
  go(0.2, stack_yaw, stack_r, top, 0)
  go(0.5, stack_yaw, stack_r, 0.45, 0)
end

local function at_time(t)
  for i = 2, #keys do
    local a, b = keys[i - 1], keys[i]
    if t <= b[1] then
      local s = math.max(0, (t - a[1]) / (b[1] - a[1]))
      s = s * s * s * (10 - 15 * s + 6 * s * s)
      local v = {}
      for c = 2, 5 do v[c - 1] = a[c] + s * (b[c] - a[c]) end
      return v
    end
  end
  local last = keys[#keys]
  return {last[2], last[3], last[4], last[5]}
end

-- angles of shoulder, elbow and wrist; the hand points down
local function angles(t)
  local v = at_time(t)
  local x, y = v[2], v[3] + reach - h0
  local elbow = -math.acos((x * x + y * y - L1 * L1 - L2 * L2) / (2 * L1 * L2))
  local shoulder = math.atan(y, x) - math.atan(L2 * math.sin(elbow), L1 + L2 * math.cos(elbow))
  return shoulder, elbow, -math.pi / 2 - shoulder - elbow, v
end
local q1, q2, q3, start = angles(0)
local S = {0, h0, 0}
local E = {L1 * math.cos(q1), h0 + L1 * math.sin(q1), 0}
local W = {start[2], start[3] + reach, 0}

local function rod(name, from, to, radius, mass, colour)
  local mid, half = {}, {}
  for c = 1, 3 do mid[c], half[c] = (from[c] + to[c]) / 2, (to[c] - from[c]) / 2 end
  return { name = name, shape = capsule { from = {-half[1], -half[2], -half[3]}, to = half, radius = radius }, at = mid, mass = mass, colour = colour }
end
local open, finger_y = 0.075, W[2] - reach
local bodies = {
  { name = "floor", kind = "static", shape = plane {}, colour = "#bdb6a8", friction = p.friction },
  { name = "base", kind = "static", shape = cylinder { radius = 0.15, height = 0.2 }, at = {0, 0.1, 0}, colour = "#7f8c8d" },
  { name = "turret", shape = cylinder { radius = 0.1, height = 0.16 }, at = {0, 0.3, 0}, mass = 8, colour = "#34495e" },
  rod("upper arm", S, E, 0.045, 5, "#e67e22"), rod("forearm", E, W, 0.04, 3, "#e67e22"),
  { name = "hand", shape = box { size = {0.06, 0.05, 0.26} }, at = {W[1], W[2] - 0.08, 0}, mass = 1, colour = "#34495e" },
}
local joints = {
  { name = "yaw", kind = "hinge", a = "turret", b = "base", at = {0, 0.2, 0}, axis = {0, 1, 0}, motor = { position = function(t) return at_time(t)[1] end } },
  { name = "shoulder", kind = "hinge", a = "upper arm", b = "turret", at = S, axis = {0, 0, 1}, motor = { position = function(t) return angles(t) - q1 end } },
  { name = "elbow", kind = "hinge", a = "forearm", b = "upper arm", at = E, axis = {0, 0, 1}, motor = { position = function(t) local _, e = angles(t) return e - q2 end } },
  { name = "wrist", kind = "hinge", a = "hand", b = "forearm", at = W, axis = {0, 0, 1}, motor = { position = function(t) local _, _, w = angles(t) return w - q3 end } },
}
for _, s in ipairs {-1, 1} do
  local name = s < 0 and "left finger" or "right finger"
  bodies[#bodies + 1] = { name = name, shape = box { size = {0.04, 0.13, 0.02} }, at = {W[1], finger_y + 0.03, s * (open + 0.01)}, mass = 0.2, colour = "#95a5a6", friction = p.friction }
  joints[#joints + 1] = { name = name, kind = "slider", a = name, b = "hand", at = {W[1], W[2] - 0.08, s * open}, axis = {0, 0, -s}, limits = {0, open},
                          motor = { position = function(t) return (open - side / 2 + 0.005) * at_time(t)[4] end, stiffness = p.grip, damping = 40 } }
end
for k, place in ipairs(places) do
  local yaw, r = place[1], place[2]
  bodies[#bodies + 1] = { name = "box " .. k, shape = box { size = side }, at = {r * math.cos(yaw), side / 2, -r * math.sin(yaw)},
                          rotation = { axis = {0, 1, 0}, angle_rad = yaw }, mass = 0.4, friction = p.friction, colour = k % 2 == 1 and "#c0392b" or "#2980b9" }
end

return scene {
  talus = 1, engine = "grid",
  title = "A robot arm that stacks boxes",
  about = "an arm of four hinges and a gripper takes boxes from the floor and puts them on each other",
  minutes = 0.5,
  duration = now + 0.4, fps = 50, dt_max = 0.01,
  bodies = bodies, joints = joints,
  camera = { eye = {1.7, 1.1, 1.9}, target = {0.35, 0.3, 0.1}, fov_deg = 40 },
}
