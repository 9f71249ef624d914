-- Six legs that change their lengths move a platform in all six ways; the lengths are those that the wanted motion needs.
local p = params { height = 1.0, base = 0.6, top = 0.4, load = 50 }
local function ring(radius, y, first, gap)
  local list = {}
  for k = 0, 5 do
    local pair, side = (k + first) // 2, (k + first) % 2
    local angle = math.rad(120 * pair + (side == 0 and -gap or gap) + (first == 1 and -60 or 0))
    list[k + 1] = {radius * math.cos(angle), y, radius * math.sin(angle)}
  end
  return list
end
local low, high = ring(p.base, 0, 0, 12), ring(p.top, p.height, 1, 12)

-- the motion: up and down, to and fro, and a turn about the vertical, from rest
local function pose(t)
  local s = math.min(1, t / 0.5) ^ 2
  return 0.08 * s * math.sin(3 * t), 0.06 * s * math.sin(2 * t), 0.05 * s * math.sin(4 * t), 0.25 * s * math.sin(2.5 * t)
end
local function length(k, t)
  local x, y, z, turn = pose(t)
  local c, s, h, b = math.cos(turn), math.sin(turn), high[k], low[k]
  local ex, ey, ez = x + c * h[1] + s * h[3] - b[1], y + h[2] - b[2], z - s * h[1] + c * h[3] - b[3]
  return math.sqrt(ex * ex + ey * ey + ez * ez)
end

local bodies = {
  { name = "base", kind = "static", shape = cylinder { radius = p.base + 0.1, height = 0.04 }, at = {0, -0.06, 0}, colour = "#7f8c8d" },
  { name = "platform", shape = cylinder { radius = p.top + 0.05, height = 0.04 }, at = {0, p.height + 0.06, 0}, mass = p.load, colour = "#2980b9" },
}
local joints = {}
for k = 1, 6 do
  local b, h = low[k], high[k]
  local d = {h[1] - b[1], h[2] - b[2], h[3] - b[3]}
  local n = math.sqrt(d[1] ^ 2 + d[2] ^ 2 + d[3] ^ 2)
  local e = {d[1] / n, d[2] / n, d[3] / n}
  local function on(s) return {b[1] + s * e[1], b[2] + s * e[2], b[3] + s * e[3]} end
  local function leg(from, to, r)
    local mid = on((from + to) / 2)
    local f = (to - from) / 2
    return capsule { from = {-f * e[1], -f * e[2], -f * e[3]}, to = {f * e[1], f * e[2], f * e[3]}, radius = r }, mid
  end
  local shape, at = leg(0.05, 0.55 * n, 0.03)
  bodies[#bodies + 1] = { name = "sleeve " .. k, shape = shape, at = at, mass = 2, colour = "#34495e" }
  shape, at = leg(0.5 * n, n - 0.05, 0.018)
  bodies[#bodies + 1] = { name = "piston " .. k, shape = shape, at = at, mass = 1, colour = "#ecf0f1" }
  local across = math.sqrt(e[1] ^ 2 + e[3] ^ 2)
  local u = {e[3] / across, 0, -e[1] / across}
  local v = {e[2] * u[3] - e[3] * u[2], e[3] * u[1] - e[1] * u[3], e[1] * u[2] - e[2] * u[1]}
  joints[#joints + 1] = { name = "foot " .. k, kind = "universal", a = "sleeve " .. k, b = "base", at = b, axis = u, axis_b = v }
  joints[#joints + 1] = { name = "leg " .. k, kind = "slider", a = "piston " .. k, b = "sleeve " .. k, at = on(n / 2), axis = e,
                          motor = { position = function(t) return length(k, t) - length(k, 0) end } }
  joints[#joints + 1] = { name = "head " .. k, kind = "ball", a = "piston " .. k, b = "platform", at = h }
end

return scene {
  talus = 1, engine = "grid",
  title = "Stewart platform",
  about = "six legs of given length carry a platform through a motion in all six ways",
  minutes = 0.5,
  duration = size == "paper" and 20 or 4, fps = 50, dt_max = 0.01,
  bodies = bodies, joints = joints,
  camera = { eye = {1.6, 1.5, 2.2}, target = {0, 0.5, 0}, fov_deg = 38 },
}
