-- Sand runs through an hourglass: two rabbits ride down on it, two wait below.
local paper = size == "paper"
local p = params { cells = paper and 160 or 64, angle = 30.0, duration = paper and 6 or 1.6 } -- cells per metre: of the glass's height
local h = 1 / p.cells
local wide, half, wall, neck = 0.5625, 0.4375, math.max(3.2 / p.cells, 0.03), 0.05
local sand = granular { name = "sand", density = 1600, friction_angle_deg = p.angle, colour = "#dba24a" }

-- Inner radius at height y: round shoulders, a smooth funnel to the neck.
local function bulb(y)
  local a = math.min(math.abs(y) / half, 1)
  local s = math.sin(0.5 * math.pi * a ^ 0.75)
  local shoulder = math.max(0, (math.abs(y) - 0.34) / 0.1)
  return (neck + 0.15 * s * s) * math.sqrt(1 - 0.4 * shoulder * shoulder)
end
local function turned(grow, top)
  local profile, n = { {0, -top} }, 60
  for i = 0, n do
    local y = 2 * i / n - 1
    profile[#profile + 1] = {bulb(half * y) + grow, top * y}
  end
  profile[#profile + 1] = {0, top}
  return revolve { profile = profile }
end
local middle = {wide / 2, 0.5, wide / 2}
local hollow = turned(0, half)
local glass = turned(wall, half + 0.055) - hollow

local disc = cylinder { radius = 0.278, height = 0.036, round = 0.012 }
local frame = disc:move({0, -0.481, 0}) + disc:move({0, 0.481, 0})
for i = 0, 2 do
  local a = math.rad(120 * i + 30)
  local at = {0.258 * math.cos(a), 0, 0.258 * math.sin(a)}
  frame = union { frame, cylinder { radius = 0.014, height = 0.95, center = at }, sphere { radius = 0.021, center = at } }
end

local rabbit = shape_file "rabbit":scale(0.5)
local function sit(name, x, y, z, turn, colour)
  return { name = name, shape = rabbit, at = {middle[1] + x, 0.5 + y, middle[3] + z}, rotation_deg = {0, turn, 0}, density = 900, colour = colour }
end
local level = paper and 0.309 or 0.30 -- of the sand above the neck
local funnel = hollow * box { size = {wide, level, wide}, center = {0, level / 2, 0} }

return scene {
  talus = 1, engine = "grid",
  title = "Hourglass with rabbits",
  about = "sand runs through the neck of an hourglass; rabbits ride on it and are buried below",
  figure = "FM21 Fig. 1",
  minutes = paper and 400 or 1.5,
  duration = p.duration, fps = paper and 50 or 25, dt_max = paper and 0.02 or 1 / 75,
  grid = { cells = {math.ceil(wide / h), p.cells, math.ceil(wide / h)}, cell = h },
  fill = { { material = sand, shape = funnel:move(middle) } },
  bodies = {
    { name = "glass", kind = "static", shape = glass, at = middle, colour = "#dfeeea", opacity = 0.14 },
    { name = "frame", kind = "static", shape = frame, at = middle, colour = "#8a5a32" },
    sit("white rabbit", 0.06, level - 0.035, 0.02, -50, "#efe8dc"),
    sit("brown rabbit", -0.07, level - 0.035, -0.03, 200, "#b08560"),
    sit("grey rabbit", 0.075, -half + 0.002, 0.06, -40, "#8d8780"),
    sit("fawn rabbit", -0.085, -half + 0.002, -0.01, 230, "#d8c3a5"),
  },
  camera = { eye = {1.06, 0.75, 2.15}, target = {0.28, 0.485, 0.28}, fov_deg = 33 },
  render = { width = 720, height = 960 },
}
