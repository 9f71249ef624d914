-- An excavator's arm digs a bucket into sand, fills it and lifts it. Three hinges whose motors follow a path exactly.
local p = params { cell = size == "paper" and 0.0375 or 0.075, density = 1600, friction_deg = 35, depth = 0.375 }
local c = p.cell
local n = { math.floor(1.65 / c + 0.5), math.floor(2.1 / c + 0.5), math.floor(0.75 / c + 0.5) }
local mid = n[3] * c / 2
local pivot, boom, stick = {0.1, 1.45}, 0.8, 0.9     -- where the boom is held; lengths
-- where the bucket is held, and its angle: 0 is upright, -90 degrees has the mouth to the front
local path = { -- t, x, y, degrees
  {0.0, 0.5, 0.85, -100}, {0.5, 0.5, 0.36, -100}, {1.3, 0.95, 0.44, -60}, {1.8, 1.05, 0.60, -5}, {2.3, 1.05, 0.95, 0}, {9.0, 1.05, 0.95, 0} }
local function where(t)
  for i = 1, #path - 1 do
    local a, b = path[i], path[i + 1]
    if t <= b[1] then
      local s = math.max(0, (t - a[1]) / (b[1] - a[1]))
      s = s * s * (3 - 2 * s)
      return a[2] + s * (b[2] - a[2]), a[3] + s * (b[3] - a[3]), math.rad(a[4] + s * (b[4] - a[4]))
    end
  end
end
local function angles(t)                               -- of boom, stick and bucket against the world
  local x, y, turn = where(t)
  local dx, dy = x - pivot[1], y - pivot[2]
  local far = math.sqrt(dx * dx + dy * dy)
  local lift = math.acos((boom ^ 2 + far ^ 2 - stick ^ 2) / (2 * boom * far))
  local first = math.atan(dy, dx) + lift
  local ex, ey = pivot[1] + boom * math.cos(first), pivot[2] + boom * math.sin(first)
  return first, math.atan(y - ey, x - ex), turn
end
local a0, b0, c0 = angles(0)
local elbow = {pivot[1] + boom * math.cos(a0), pivot[2] + boom * math.sin(a0), mid}
local x0, y0 = where(0)
local hold, wall, drop = {x0, y0, mid}, 0.075, 0.18    -- the bucket hangs `drop` below what holds it
local function beam(name, from, angle, long, colour)
  return { name = name, shape = box { size = {long, 0.1, 0.1}, round = 0.01 }, density = 2000, rotation = { axis = {0, 0, 1}, angle_rad = angle }, colour = colour,
    at = {from[1] + 0.5 * long * math.cos(angle), from[2] + 0.5 * long * math.sin(angle), mid} }
end
return scene {
  talus = 1, engine = "grid",
  title = "An excavator's bucket digs and lifts sand",
  about = "an arm of three hinges drives a bucket through sand and lifts what it holds",
  minutes = 2,
  duration = 3.2, fps = 25, dt_max = 0.01,
  grid = { cells = n, cell = c },
  fill = { { material = granular { density = p.density, friction_angle_deg = p.friction_deg },
             shape = box { size = {n[1] * c, p.depth, n[3] * c}, center = {n[1] * c / 2, p.depth / 2, mid} } } },
  bodies = {
    beam("boom", pivot, a0, boom, "#f39c12"),
    beam("stick", elbow, b0, stick, "#e67e22"),
    { name = "bucket", shape = box { size = {0.45, 0.3, 0.5} } - box { size = {0.45 - 2 * wall, 0.3, 0.5 - 2 * wall}, center = {0, wall, 0} },
      density = 2500, colour = "#34495e", rotation = { axis = {0, 0, 1}, angle_rad = c0 },
      at = {hold[1] + drop * math.sin(c0), hold[2] - drop * math.cos(c0), mid} },
  },
  joints = { -- the bucket's corners stay 10 cm above the ground, which no motor could press sand through
    { name = "boom", kind = "hinge", a = "boom", at = {pivot[1], pivot[2], mid}, axis = {0, 0, 1}, motor = { position = function(t) return angles(t) - a0 end, max = 4000 } },
    { name = "stick", kind = "hinge", a = "stick", b = "boom", at = elbow, axis = {0, 0, 1},
      motor = { position = function(t) local a, b = angles(t) return (b - a) - (b0 - a0) end, max = 4000 } },
    { name = "bucket", kind = "hinge", a = "bucket", b = "stick", at = hold, axis = {0, 0, 1},
      motor = { position = function(t) local _, b, k = angles(t) return (k - b) - (c0 - b0) end, max = 4000 } },
  },
  camera = { eye = {2.6, 1.8, 3.6}, target = {0.8, 0.6, mid}, fov_deg = 42 },
}
