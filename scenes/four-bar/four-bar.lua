-- A crank-rocker: the crank goes round and round, the rocker to and fro. The loop of four hinges closes exactly.
local p = params { speed = 3.0, crank = 0.3, coupler = 0.9, rocker = 0.7, ground = 1.0, start_deg = 60 }
local a = math.rad(p.start_deg)
local y0 = 0.5
local A, D = {0, y0, 0}, {p.ground, y0, 0}
local B = {p.crank * math.cos(a), y0 + p.crank * math.sin(a), 0}
-- where the circles of coupler and rocker meet, the upper one
local dx, dy = D[1] - B[1], D[2] - B[2]
local d = math.sqrt(dx * dx + dy * dy)
local along = (d * d + p.coupler ^ 2 - p.rocker ^ 2) / (2 * d)
local up = math.sqrt(p.coupler ^ 2 - along ^ 2)
local C = {B[1] + (along * dx - up * dy) / d, B[2] + (along * dy + up * dx) / d, 0}

local function bar(name, from, to, z, colour)
  local mid = {(from[1] + to[1]) / 2, (from[2] + to[2]) / 2, z}
  local half = {(to[1] - from[1]) / 2, (to[2] - from[2]) / 2, 0}
  return { name = name, at = mid, density = 2700, colour = colour,
           shape = capsule { from = {-half[1], -half[2], 0}, to = half, radius = 0.025 } }
end

return scene {
  talus = 1, engine = "grid",
  title = "Four-bar linkage",
  about = "a motor turns the crank; coupler and rocker follow, and the loop stays closed",
  minutes = 0.2,
  duration = size == "paper" and 20 or 6, fps = 50, dt_max = 0.01,
  bodies = {
    bar("crank", A, B, 0, "#c0392b"), bar("coupler", B, C, 0.06, "#f1c40f"), bar("rocker", D, C, 0, "#2980b9"),
    { name = "ground", kind = "static", shape = box { size = {p.ground + 0.2, 0.05, 0.06} }, at = {p.ground / 2, y0 - 0.6, 0}, colour = "#7f8c8d" },
  },
  joints = {
    { name = "motor", kind = "hinge", a = "crank", at = A, axis = {0, 0, 1}, motor = { speed = p.speed } },
    { name = "knee", kind = "hinge", a = "coupler", b = "crank", at = B, axis = {0, 0, 1} },
    { name = "elbow", kind = "hinge", a = "coupler", b = "rocker", at = C, axis = {0, 0, 1} },
    { name = "rocker", kind = "hinge", a = "rocker", at = D, axis = {0, 0, 1} },
  },
  camera = { eye = {0.5, 0.8, 2.6}, target = {0.5, 0.6, 0}, fov_deg = 36 },
}
